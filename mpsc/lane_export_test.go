package mpsc

// StallLane begins a push to a lane and stops between the write of its cell
// and its publication, which the returned function makes. It reports whether
// the push was accepted.
func StallLane[T any](p *Producer[T], v T) (publish func() bool) {
	if p.pos >= len(p.cells) && !p.extend() {
		return func() bool { return false }
	}
	p.cells[p.pos] = v
	return func() bool {
		if !p.tail.CompareAndSwap(p.word, p.word+laneStep) {
			clear(p.cells[p.pos : p.pos+1])
			p.refuse()
			return false
		}
		p.pos++
		p.word += laneStep
		p.q.wake()
		return true
	}
}
