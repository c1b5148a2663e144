package mpsc_test

import (
	"context"
	"fmt"
	"sync"

	"github.com/tidemark-go/tidemark/mpsc"
)

// The consumer's loop: sleep until something is there, take all of it, end
// when the queue is closed and empty.
func Example() {
	q := mpsc.New[int]()
	var producers sync.WaitGroup
	for i := 1; i <= 4; i++ {
		producers.Go(func() { q.Push(i) })
	}
	go func() {
		producers.Wait()
		q.Close()
	}()

	sum := 0
	for q.Wait(context.Background()) == nil {
		q.Drain(func(v int) { sum += v })
	}
	fmt.Println("sum:", sum)
	// Output: sum: 10
}

// A goroutine that pushes much opens a lane of its own.
func ExampleQueue_Producer() {
	q := mpsc.New[string]()
	p := q.Producer()
	p.Push("a")
	p.PushBatch([]string{"b", "c"})
	p.Close()

	q.Drain(func(s string) { fmt.Println(s) })
	fmt.Println("after Close:", p.Push("d"))
	// Output:
	// a
	// b
	// c
	// after Close: false
}

func ExampleQueue_DrainTo() {
	q := mpsc.New[int]()
	for v := range 5 {
		q.Push(v)
	}
	var dst [3]int
	for n := q.DrainTo(dst[:]); n > 0; n = q.DrainTo(dst[:]) {
		fmt.Println(dst[:n])
	}
	// Output:
	// [0 1 2]
	// [3 4]
}

func ExampleQueue_Wait() {
	q := mpsc.New[int]()
	done, cancel := context.WithCancel(context.Background())
	cancel()
	fmt.Println(q.Wait(done)) // empty and open: the context decides

	q.Push(1)
	fmt.Println(q.Wait(done)) // an element is there

	q.Close()
	q.TryPop()
	fmt.Println(q.Wait(done)) // empty for good
	// Output:
	// context canceled
	// <nil>
	// mpsc: the queue is closed and empty
}

func ExampleNew() {
	// Small segments for a queue that rarely holds more than a few elements
	// of a large type.
	q := mpsc.New[[1024]byte](mpsc.WithSegmentSize(8), mpsc.WithMaxFree(2))
	fmt.Println(q.Push([1024]byte{}), q.Len())
	// Output: true 1
}
