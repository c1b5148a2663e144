package ringbuf

import "github.com/tidemark-go/tidemark/internal/atomics"

// The ring is generic, so it is compiled in the package that uses it. There
// the compiler inlines a method of an atomic type only if it finds the body,
// and it finds it through this package only if this package inlined the
// method itself, in code that is not generic: that is this function. Without
// it every atomic operation of a ring is a call. It is never run; a test looks
// at the machine code of a package that uses a ring.
func keepAtomicsInlinable(u *atomics.Uint64, w *atomics.Uint32, n *atomics.Int32, b *atomics.Bool, p *atomics.Pointer[int]) {
	u.Store(u.Load() + u.Add(1))
	u.CompareAndSwap(0, 1)
	w.Store(w.Load())
	n.Store(n.Load() + n.Add(1))
	b.Store(b.Load())
	p.Store(p.Load())
	p.CompareAndSwap(nil, nil)
}

var _ = keepAtomicsInlinable
