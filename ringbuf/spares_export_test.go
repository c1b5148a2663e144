package ringbuf

// SpareTag returns the tag of the spare buffers' head.
func SpareTag[T any](r *Ring[T]) uint32 { return uint32(r.spares.head.Load() >> 32) }

// SetSpareTag sets it, on a ring at rest.
func SetSpareTag[T any](r *Ring[T], tag uint32) {
	r.spares.head.Store(uint64(tag)<<32 | r.spares.head.Load()&(1<<32-1))
}
