package atomics

// The compiler hands on the body of an imported function, and so the chance
// to inline it, only to packages that import its own package, or if a package
// in between has inlined it in code that is not generic. An alias alone does
// not count. This function does: without it every operation on these types is
// a call in packages that know them through this one alone. It is never run;
// a test looks at the machine code of such a package.
func keepInlinable(u *Uint64, i *Int64, w *Uint32, n *Int32, b *Bool, p *Pointer[int]) {
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

var _ = keepInlinable
