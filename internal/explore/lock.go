package explore

import "context"

// Mutex stands for sync.Mutex. A thread that finds it held sleeps until it is
// free.
type Mutex struct {
	object Object
	held   bool
}

// Lock locks m.
func (m *Mutex) Lock() {
	if t := current; t != nil {
		t.reach(op{kind: opLock, obj: &m.object, mutex: m})
		t.learn(&m.object)
		t.tell(&m.object)
	}
	if m.held {
		panic("explore: Lock of a held Mutex outside of threads would wait for ever")
	}
	m.held = true
}

// Unlock unlocks m.
func (m *Mutex) Unlock() {
	if t := current; t != nil {
		t.reach(op{kind: opUnlock, obj: &m.object})
		t.learn(&m.object)
		t.tell(&m.object)
	}
	if !m.held {
		panic("explore: Unlock of a Mutex that is not held")
	}
	m.held = false
}

// Parker stands for the Parker of internal/atomics.
type Parker struct {
	object  Object
	pending bool
}

// NewParker returns a Parker with no wake-up pending.
func NewParker() Parker { return Parker{} }

// Park waits until a wake-up is pending, which it consumes, or until ctx is
// done. Like the original it first looks whether a wake-up is there. When
// both come while it waits, the original may return either; this one returns
// the context's error, because a wake-up that wins is the same as one that
// came alone.
//
// Contexts that can end must be made with NewContext.
func (p *Parker) Park(ctx context.Context) error {
	t := current
	if t == nil {
		panic("explore: Park outside of a thread")
	}
	c, own := ctx.(*Context)
	if !own && ctx.Done() != nil {
		panic("explore: a context that can end must be made with NewContext")
	}
	t.reach(op{kind: opTryPark, obj: &p.object})
	t.learn(&p.object)
	t.tell(&p.object)
	if p.pending {
		p.pending = false
		return nil
	}
	o := op{kind: opPark, obj: &p.object, parker: p, ctx: c}
	if own {
		o.also = &c.object
	}
	t.reach(o)
	t.learn(&p.object)
	t.tell(&p.object)
	if own && c.err != nil {
		t.learn(&c.object)
		return c.err
	}
	p.pending = false
	return nil
}

// Unpark makes one wake-up pending.
func (p *Parker) Unpark() {
	if t := current; t != nil {
		t.reach(op{kind: opUnpark, obj: &p.object})
		t.learn(&p.object)
		t.tell(&p.object)
	}
	p.pending = true
}

// Context is a context that a thread of the program ends.
type Context struct {
	context.Context
	object Object
	err    error
}

// NewContext returns a context that ends when Cancel is called.
func NewContext() *Context { return &Context{Context: context.Background()} }

// Cancel ends the context.
func (c *Context) Cancel() {
	if t := current; t != nil {
		t.reach(op{kind: opStore, obj: &c.object})
		t.tell(&c.object)
	}
	c.err = context.Canceled
}

// Err returns context.Canceled once the context has ended, else nil.
func (c *Context) Err() error {
	if t := current; t != nil {
		t.reach(op{kind: opLoad, obj: &c.object})
		t.learn(&c.object)
	}
	return c.err
}
