package checkpointtest

import (
	"runtime"
	"testing"
)

// largeCases need millions of operations or the whole heap.
func largeCases() []testCase {
	return []testCase{
		{"FourMillionHolders", 0, ackManyHolders},
		{"SaturationSticks", LacksSaturation, ackSaturationSticks},
		{"TenThousandPartitionsAMillionBatches", LacksMemory, listLarge},
	}
}

// heapNow is what is reachable now. Two cycles: the first may leave what
// finalizers and sweeping still hold.
func heapNow() int64 {
	var ms runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&ms)
	return int64(ms.HeapAlloc)
}

// listLarge pushes a million batches through ten thousand partitions and
// wants the memory back.
func listLarge(t testing.TB, s Subject) {
	partitions, each := 10_000>>less(2), 100
	ps := parts(partitions)
	acks := make([]Ack, 0, partitions*each)
	empty := heapNow()
	r := newRig(t, s, ps...)
	idle := heapNow() - empty
	if most := int64(partitions) * 1024; idle > most {
		t.Errorf("%d idle partitions take %d bytes, want at most %d", partitions, idle, most)
	}
	for n := range each {
		for _, p := range ps {
			acks = append(acks, r.issue(p, int64(n)))
		}
	}
	total := len(acks)
	for k := range acks {
		k = int(uint64(k) * 7919 % uint64(total))
		acks[k].Release()
	}
	r.drain(stats{Applied: total})
	clear(acks)
	full := heapNow() - empty
	if most := int64(partitions)*1024 + int64(total)*64; full > most {
		t.Errorf("%d pending batches in %d partitions take %d bytes, want at most %d", total, partitions, full, most)
	}
	marks := r.c.TakeWatermarks(nil)
	if len(marks) != partitions {
		t.Fatalf("%d partitions have a watermark, want %d", len(marks), partitions)
	}
	for k, w := range marks {
		if w != at(part(k), int64(each)) {
			t.Fatalf("watermark %d is %v, want %v", k, w, at(part(k), int64(each)))
		}
	}
	r.maxPending(0)
	// The issuer lets go of an epoch at its first issue in the next one.
	r.begin(2, ps...)
	r.issue(part(partitions), 0).Release()
	r.c.Drain()
	marks = nil
	again := heapNow() - empty
	if most := idle + idle/2 + 64<<10; again > most {
		t.Errorf("a new epoch after %d batches takes %d bytes, the first one took %d", total, again, idle)
	}
	runtime.KeepAlive(acks)
	runtime.KeepAlive(marks)
	runtime.KeepAlive(r)
}
