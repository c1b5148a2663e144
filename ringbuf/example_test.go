package ringbuf_test

import (
	"errors"
	"fmt"

	"github.com/tidemark-go/tidemark/ringbuf"
)

// reading is a record: a value without pointers.
type reading struct {
	Sensor  uint32
	Celsius float32
}

func Example() {
	ring, err := ringbuf.New[reading](4)
	if err != nil {
		panic(err)
	}
	for i := range 3 {
		seq, ok := ring.Append(&reading{Sensor: 7, Celsius: 20 + float32(i)})
		fmt.Println("appended", seq, ok)
	}

	page := make([]reading, 2)
	for cursor := uint64(0); ; {
		n, err := ring.ReadAfter(cursor, page)
		if err != nil {
			panic(err)
		}
		if n == 0 {
			break // up to date: ask again later with the same cursor
		}
		for i, r := range page[:n] {
			fmt.Println("record", cursor+1+uint64(i), "is", r.Celsius)
		}
		cursor += uint64(n)
	}
	// Output:
	// appended 1 true
	// appended 2 true
	// appended 3 true
	// record 1 is 20
	// record 2 is 21
	// record 3 is 22
}

// A reader that fell behind is told what it missed. It resumes a little past
// the oldest record, since that one may be overwritten before the next call.
func ExampleRing_ReadAfter() {
	ring, err := ringbuf.New[reading](16)
	if err != nil {
		panic(err)
	}
	for i := range 100 {
		ring.Append(&reading{Celsius: float32(i)})
	}

	cursor := uint64(3) // the last record that the reader has
	page := make([]reading, 4)
	n, err := ring.ReadAfter(cursor, page)
	var overwritten *ringbuf.CursorOverwrittenError
	if errors.As(err, &overwritten) {
		resume := overwritten.OldestRetained - 1 + uint64(ring.Capacity()/8)
		fmt.Printf("records %d to %d are missed\n", cursor+1, resume)
		cursor = resume
		n, err = ring.ReadAfter(cursor, page)
	}
	fmt.Println(n, "records from", cursor+1, "on, error", err)
	// Output:
	// records 4 to 86 are missed
	// 4 records from 87 on, error <nil>
}
