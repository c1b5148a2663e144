package mpsc_test

import (
	"fmt"

	"github.com/tidemark-go/tidemark/mpsc"
)

// Work is handed out in order and finishes in any order; what is taken comes
// in order again, as far as everything before it is finished.
func ExampleInOrder() {
	type source struct{ name string }

	inbox := mpsc.NewInbox[string, source](nil)
	var q mpsc.InOrder[string, source]
	q.Init(inbox, &source{name: "orders"})

	a, _ := q.Reserve("a")
	b, _ := q.Reserve("b")
	c, _ := q.Reserve("c")

	look := func() {
		inbox.Collect(func(q *mpsc.InOrder[string, source], reserved, published int) {
			fmt.Printf("%s: %d reserved, %d published\n", q.Owner().name, reserved, published)
		})
		q.Take(func(v string) { fmt.Println("took", v) })
	}

	c.Release()
	a.Release()
	look()
	b.Retain(1) // two holders now
	b.Release()
	b.Release()
	look()
	// Output:
	// orders: 3 reserved, 2 published
	// took a
	// orders: 0 reserved, 1 published
	// took b
	// took c
}

// Things that have news are marked by anyone and visited once.
func ExampleReadySet() {
	type conn struct {
		ready mpsc.Ready[conn]
		name  string
	}
	a, b := &conn{name: "a"}, &conn{name: "b"}
	a.ready.Bind(a)
	b.ready.Bind(b)

	var set mpsc.ReadySet[conn]
	set.Mark(&a.ready)
	set.Mark(&b.ready)
	set.Mark(&a.ready) // is in already

	set.Drain(func(c *conn) { fmt.Println("news of", c.name) })
	// Unordered output:
	// news of a
	// news of b
}
