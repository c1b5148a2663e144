module github.com/tidemark-go/tidemark/bench/peers

go 1.26.0

require (
	github.com/bytedance/gopkg v0.1.4
	github.com/puzpuzpuz/xsync/v4 v4.5.0
	github.com/tidemark-go/tidemark v0.0.0
	go.uber.org/goleak v1.3.0
)

require (
	github.com/HdrHistogram/hdrhistogram-go v1.4.0 // indirect
	github.com/loov/hrtime v1.0.3 // indirect
	go.uber.org/atomic v1.12.0 // indirect
	golang.org/x/sys v0.30.0 // indirect
)

replace github.com/tidemark-go/tidemark => ../..
