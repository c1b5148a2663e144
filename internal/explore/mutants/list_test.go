package mutants

// mutant is one way to break the source.
type mutant struct {
	name string
	file string // from the root of the module
	// Pairs of a text that occurs once in the file, and what takes its place.
	change []string
	// run is the test that must fail, and says how its message must begin
	// after the name of the configuration and the number of the execution.
	run, says string
}

var list = []mutant{
	{"a push publishes before it writes", "mpsc/claim.go", []string{
		"	atomics.Write(&c.v)\n	c.v = v\n	atomics.Read(&s.gen)\n	c.stamp.Store(s.gen) // the cell is the consumer's from here on\n",
		"	atomics.Read(&s.gen)\n	c.stamp.Store(s.gen)\n	atomics.Write(&c.v)\n	c.v = v\n",
	}, "TestExploreQueuePushes", "data race"},
	{"a lane publishes before it writes", "mpsc/producer.go", []string{
		"	atomics.Write(cell)\n	*cell = v\n	if !p.tail.CompareAndSwap(p.word, p.word+laneStep) {",
		"	published := p.tail.CompareAndSwap(p.word, p.word+laneStep)\n	atomics.Write(cell)\n	*cell = v\n	if !published {",
	}, "TestExploreLanes", "data race"},
	{"a reservation is registered before its value is written", "mpsc/inorder.go", []string{
		"	atomics.Write(&c.value)\n	c.value = v\n	c.word.Store((seq+1)<<stampShift | holdOne) // the cell is registered\n",
		"	c.word.Store((seq+1)<<stampShift | holdOne)\n	atomics.Write(&c.value)\n	c.value = v\n",
	}, "TestExploreInOrder", "data race"},
	{"a ring record is published before it is written", "ringbuf/append.go", []string{
		"	r.buffer(r.layout.buffer(claimed)).fill(seq, v)\n	if !p.word.CompareAndSwap(claimed, claimed-writingBit) {",
		"	published := p.word.CompareAndSwap(claimed, claimed-writingBit)\n	r.buffer(r.layout.buffer(claimed)).fill(seq, v)\n	if !published {",
	}, "TestExploreRing", ""},

	{"a pop takes any stamp for published", "mpsc/sweep.go", []string{
		"if cell := &c.head.cells[c.pos]; cell.stamp.Load() == c.head.gen {",
		"if cell := &c.head.cells[c.pos]; cell.stamp.Load() != 0 {",
	}, "TestExploreQueueReuse", ""},
	{"a late release does not look at the stamp", "mpsc/inorder_reservation.go", []string{
		"		if w>>stampShift != stampOf(r.seq) {\n			return 0\n		}\n", "",
	}, "TestExploreInOrder", ""},
	{"the consumer does not look at the stamp of a reserved cell", "mpsc/inorder_segment.go", []string{
		"			if w>>stampShift != stampOf(s.base+uint64(i)) {\n				break // not reserved yet, nor is any cell behind it\n			}\n", "",
	}, "TestExploreInOrder", ""},
	{"a ring reader does not look whether its record is still written", "ringbuf/read.go", []string{
		"case d < 0 || w&writingBit != 0:", "case d < 0:",
	}, "TestExploreRing", ""},

	{"a ready mark is cleared after the visit", "mpsc/ready.go", []string{
		"		r.clear()\n		n++\n		f(r.owner)\n", "		n++\n		f(r.owner)\n		r.clear()\n",
	}, "TestExploreReady", "a drain saw"},
	{"a segment's mark is cleared and the segment not looked at again", "mpsc/inbox.go", []string{
		"			if !s.complete() { // something may have come before the mark was clear\n				reserved, published = s.scan()\n			}\n", "",
	}, "TestExploreInbox", ""},
	{"a cleared mark keeps its turn", "mpsc/ready.go", []string{
		"r.mark.Store(r.mark.Load()&^markState + markTurn)", "r.mark.Store(r.mark.Load() &^ markState)",
	}, "TestExploreReady", "a drain saw"},
	{"a mark that meets a pushing one leaves no word", "mpsc/ready.go", []string{
		"			s.note(r)\n			return true\n", "			return true\n",
	}, "TestExploreReady", "a drain saw"},
	{"the places beside the set are said to be empty after they were looked at", "mpsc/ready.go", []string{
		"	s.anyLate.Store(false)\n	for i", "	defer s.anyLate.Store(false)\n	for i",
	}, "TestExploreReady", "a drain saw"},

	{"a ring writer is lapped one record early", "ringbuf/append.go", []string{
		"r.next.Load()-seq > r.mask+1 {", "r.next.Load()-seq > r.mask {",
	}, "TestExploreRing", ""},
	{"a ring writer is lapped one record late", "ringbuf/append.go", []string{
		"r.next.Load()-seq > r.mask+1 {", "r.next.Load()-seq > r.mask+2 {",
	}, "TestExploreRing", ""},
	{"a segment has one cell more than it tells", "mpsc/claim.go", []string{
		"	return min(int(w&claimCountMask), len(s.cells))\n", "	return min(int(w&claimCountMask), len(s.cells)-1)\n",
	}, "TestExploreQueuePushes", ""},

	{"the consumer parks without a second look", "mpsc/wait.go", []string{
		"if ready, done := q.look(); !ready && !done {\n		// The", "{\n		// The",
	}, "TestExploreQueuePark", "deadlock"},
	{"the consumer looks a second time before it says that it waits", "mpsc/wait.go", []string{
		"	q.waiting.Store(true)\n	if ready, done := q.look(); !ready && !done {",
		"	if ready, done := q.look(); !ready && !done {\n		q.waiting.Store(true)",
	}, "TestExploreQueuePark", "deadlock"},
	{"a push wakes the consumer before it publishes", "mpsc/claim.go", []string{
		"	c.stamp.Store(s.gen) // the cell is the consumer's from here on\n	q.wake()\n",
		"	q.wake()\n	c.stamp.Store(s.gen)\n",
	}, "TestExploreQueuePark", "deadlock"},
	{"Close wakes nobody", "mpsc/close.go", []string{"	q.seal()\n	q.wake()\n", "	q.seal()\n"}, "TestExploreQueueClose", "deadlock"},
	{"Close wakes before it seals", "mpsc/close.go", []string{"	q.seal()\n	q.wake()\n", "	q.wake()\n	q.seal()\n"}, "TestExploreQueueClose", "deadlock"},
	{"the checkpointer's Wait says too late that it waits", "core/checkpoint/wait.go", []string{
		"	c.waiting.Add(1)\n	defer c.waiting.Sub(1)\n	for {\n		if c.news() {\n			return nil\n		}\n",
		"	defer c.waiting.Sub(1)\n	for first := true; ; first = false {\n		if c.news() {\n			return nil\n		}\n		if first {\n			c.waiting.Add(1)\n		}\n",
	}, "TestExploreWait", "deadlock"},
	{"the checkpointer's Wait does not look again when the context ends", "core/checkpoint/wait.go", []string{
		"			if c.news() {\n				return nil\n			}\n			return err\n", "			return err\n",
	}, "TestExploreWait", "Wait: context canceled"},
	{"a late release wakes nobody", "core/checkpoint/wait.go", []string{
		"	c.duplicates.Add(uint64(n))\n	c.wake()\n", "	c.duplicates.Add(uint64(n))\n",
	}, "TestExploreWait", "deadlock"},
	{"WaitIdle parks without a look at what came since its drain", "core/checkpoint/wait.go", []string{
		"	return false, w.c.inboxNews()\n", "	return false, false\n",
	}, "TestExploreWaitIdle", "deadlock"},
	{"a revocation wakes nobody", "core/checkpoint/revoke.go", []string{
		"		c.wake() // whoever waits for an admission that has ended\n", "",
	}, "TestExploreWaitIdle", "deadlock"},
	{"a drain on behalf of another is not told of", "core/checkpoint/drain.go", []string{
		"	c.unreported = true\n	l := q.Owner()\n", "	l := q.Owner()\n",
	}, "TestExploreWaitIdle", ""},

	{"an epoch is published before its partitions", "core/checkpoint/checkpointer.go", []string{
		"	next := &assignment{epoch: epoch, begun: true, admissions: a.nextAdmission()}\n",
		"	next := &assignment{epoch: epoch, begun: true, admissions: a.nextAdmission()}\n	c.assignment.Store(next)\n",
	}, "TestExploreRebalance", ""},
	{"a revoked partition keeps its lane", "core/checkpoint/revoke.go", []string{
		"			if l.tracked {\n				lanes = append(lanes, l)\n			}\n", "			lanes = append(lanes, l)\n",
	}, "TestExploreRebalance", ""},
	{"a batch from before an admission is tracked in it", "core/checkpoint/issuer.go", []string{
		"	if l == nil || l.admission > f.admissions {\n", "	if l == nil {\n",
	}, "TestExploreRebalance", "a batch from before an admission"},
	{"the last take of a revocation does not drain", "core/checkpoint/revoke.go", []string{
		"	c.collect()\n	var gone []Revocation\n", "	var gone []Revocation\n",
	}, "TestExploreRebalance", ""},
	{"a partition takes every issuer", "core/checkpoint/issuer.go", []string{
		"	if l.owner.Load() != i && !l.owner.CompareAndSwap(nil, i) {", "	if o := l.owner.Load(); o != i && o == nil {\n		l.owner.Store(i)\n	} else if o != i {",
	}, "TestExploreRebalance", ""},

	{"the first process is stored, not compared", "core/timing/ledger.go", []string{
		"		l.process.CompareAndSwap(nil, &first)\n", "		l.process.Store(&first)\n",
	}, "TestExploreBind", ""},
	{"a loss near the end of the count is added, not compared", "core/timing/ledger.go", []string{
		"		if l.losses.CompareAndSwap(n, n+1) {\n			return\n		}\n", "		l.losses.Add(1)\n		return\n",
	}, "TestExploreLosses", ""},
	{"a guard leaves the list before it is recorded", "core/timing/guard.go", []string{
		"	defer g.ledger.open.remove(g)\n	defer g.record(stall)\n", "	defer g.record(stall)\n	defer g.ledger.open.remove(g)\n",
	}, "TestExploreGuard", "a guard is neither open nor recorded"},
	{"a guard is known before its context is written", "core/timing/guard.go", []string{
		"		atomics.Write(&g.context)\n		g.context = c\n		g.known.Store(true) // from here on OpenGuards reads context\n",
		"		g.known.Store(true)\n		atomics.Write(&g.context)\n		g.context = c\n",
	}, "TestExploreGuard", "data race"},
	{"two guards take the same place", "core/timing/open.go", []string{
		"if o.places[i].Load() == nil && o.places[i].CompareAndSwap(nil, g) {\n", "if o.places[i].Load() == nil {\n			o.places[i].Store(g)\n",
	}, "TestExploreGuard", ""},

	{"Len reads what was popped last", "mpsc/queue.go", []string{
		"	popped := q.window.Load() >> 1\n	list", "	list",
		"	n := (total - popped) & indexMask\n", "	n := (total - q.window.Load()>>1) & indexMask\n",
	}, "TestExploreQueueLen", "Len is"},
	{"Outstanding reads what was taken last", "mpsc/inorder.go", []string{
		"		taken := q.taken.Load() // before the reservations, which only grow\n		least = min(least, q.reserved()-taken)\n",
		"		reserved := q.reserved()\n		taken := q.taken.Load()\n		least = min(least, reserved-taken)\n",
	}, "TestExploreInOrder", ""},
	{"a producer does not look whether a Discard was faster", "mpsc/inorder.go", []string{
		"		if s = q.returned.Swap(nil); s == nil {\n			return nil // a Discard was faster\n		}\n", "		s = q.returned.Swap(nil)\n",
	}, "TestExploreInOrder", "thread a panicked"},
	{"a segment is followed before it is seen full", "mpsc/inorder_consumer.go", []string{
		"	if !q.last.full() {\n		return nil, 0\n	}\n", "",
	}, "TestExploreInbox", ""},
	{"a passed segment does not link to itself", "mpsc/sweep.go", []string{"	s.next.Store(s)\n", ""}, "TestExploreQueuePassedSegments", "a passed segment links to"},
	{"segments are used again beside a producer that appends", "mpsc/sweep.go", []string{
		"	if q.sections.Load() != 0 {\n		return\n	}\n	c := &q.cons\n", "	c := &q.cons\n",
	}, "TestExploreQueue", ""},
	{"a segment is used again with its stamp", "mpsc/sweep.go", []string{"		s.gen++\n", ""}, "TestExploreQueueReuse", ""},
	{"Close does not seal the chain", "mpsc/close.go", []string{"	q.seal()\n", ""}, "TestExploreQueueClose", ""},
	{"Close does not seal the lanes", "mpsc/lanes.go", []string{
		"	for _, p := range q.lanes.Load().lanes {\n		p.tail.Or(laneSealed)\n	}\n", "",
	}, "TestExploreLanes", ""},
	{"a lane that is opened is stored, not compared", "mpsc/lanes.go", []string{
		"		if q.lanes.CompareAndSwap(old, list) {\n			return p\n		}\n", "		q.lanes.Store(list)\n		return p\n",
	}, "TestExploreLanes", ""},
	{"the end of the chain is read after the gaps are tried again", "mpsc/sweep.go", []string{
		"	q.retryGaps(k)\n	for k.n < k.max {", "	q.retryGaps(k)\n	q.findEnd(k)\n	for k.n < k.max {",
	}, "TestExploreGaps", ""},
	{"a pop takes cells behind one that is not published", "mpsc/sweep.go", []string{
		"	if cell := &c.head.cells[c.pos]; cell.stamp.Load() == c.head.gen {\n		return cell\n	}\n	return nil\n",
		"	for ; c.pos < len(c.head.cells); c.pos++ {\n		if cell := &c.head.cells[c.pos]; cell.stamp.Load() == c.head.gen {\n			return cell\n		}\n	}\n	return nil\n",
	}, "TestExploreQueuePushes", ""},
	{"an orphaned ring buffer is not let go of by its writer", "ringbuf/append.go", []string{
		"		r.letGo(r.layout.buffer(claimed), -1) // a later lap did not wait\n", "",
	}, "TestExploreRing", ""},
	{"a ring writer takes a buffer that is held", "ringbuf/append.go", []string{
		"	if holders(w) > 0 {\n		buffer = ", "	if false {\n		buffer = ",
	}, "TestExploreRing", "data race"},
	{"the last sequence numbers are added, not compared", "ringbuf/append.go", []string{
		"		if r.next.CompareAndSwap(seq, seq+1) { // the record is accepted\n			return seq, true\n		}\n",
		"		return r.next.Add(1) - 1, true\n",
	}, "TestExploreRingEnd", ""},
}
