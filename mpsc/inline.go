package mpsc

import "github.com/tidemark-go/tidemark/internal/atomics"

// The queues are generic, so they are compiled in the package that uses them.
// There the compiler inlines a method of an atomic type only if it finds the
// body, and it finds it through this package only if this package inlined the
// method itself, in code that is not generic: that is this function. Without
// it every atomic operation of a queue is a call. It is never run; a test
// looks at the machine code of a package that uses the queues.
func keepAtomicsInlinable(u *atomics.Uint64, i *atomics.Int64, w *atomics.Uint32, n *atomics.Int32, b *atomics.Bool, p *atomics.Pointer[int]) {
	u.Store(u.Load() + u.Add(1) + u.Swap(1))
	u.CompareAndSwap(0, 1)
	u.Store(u.And(1) + u.Or(1))
	i.Store(i.Load() + i.Add(1) + i.Swap(1))
	i.CompareAndSwap(0, 1)
	w.Store(w.Load() + w.Add(1) + w.Sub(1) + w.Swap(1))
	w.CompareAndSwap(0, 1)
	n.Store(n.Load() + n.Add(1) + n.Sub(1) + n.Swap(1))
	n.CompareAndSwap(0, 1)
	b.Store(b.Load() || b.Swap(true))
	b.CompareAndSwap(false, true)
	p.Store(p.Load())
	p.CompareAndSwap(p.Swap(nil), nil)
}

var _ = keepAtomicsInlinable
