package pointers

import (
	"reflect"
	"testing"
)

func TestIn(t *testing.T) {
	type inner struct{ _ *int }
	for v, want := range map[any]bool{
		true: false, int8(1): false, uintptr(1): false, complex64(1): false, [4]float64{}: false,
		struct{}{}:                          false,
		struct{ a [2]struct{ b uint16 } }{}: false,
		"text":                              true,
		[1]string{}:                         true,
		[0]string{}:                         false,
		inner{}:                             true,
		struct{ a [2]inner }{}:              true,
		new(int):                            true,
		make(chan int):                      true,
		struct{ x any }{}:                   true,
	} {
		if got := In(reflect.TypeOf(v)); got != want {
			t.Errorf("In(%T) = %v, want %v", v, got, want)
		}
	}
	for _, v := range []any{[]int{}, map[int]int{}, func() {}} {
		if !In(reflect.TypeOf(v)) {
			t.Errorf("In(%T) = false", v)
		}
	}
}
