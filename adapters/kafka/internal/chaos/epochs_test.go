package chaos

import (
	"sync"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// epochs answers where a leader epoch ends in the log. The broker in this
// process says that it does not know as long as nothing was written under the
// next one; the client takes that for a loss of data, as it has to, and reads
// the log from its start. Here no log is ever cut, so the answer is where the
// next epoch began.
type epochs struct {
	mu   sync.Mutex
	logs [partitions]struct {
		leader, epoch int32
		begins        []epochBegin // of all epochs but the first, in order
	}
}

type epochBegin struct {
	epoch  int32
	offset int64
}

// moves notes that a partition is about to get another leader, under the next
// epoch, with a log that ends at offset.
func (e *epochs) moves(partition, leader int32, offset int64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	l := &e.logs[partition]
	l.leader = leader
	l.epoch++
	l.begins = append(l.begins, epochBegin{l.epoch, offset})
}

// answer is for a control function of node. It returns nil for what the broker
// itself answers well.
func (e *epochs) answer(req *kmsg.OffsetForLeaderEpochRequest, node int32) kmsg.Response {
	e.mu.Lock()
	defer e.mu.Unlock()
	resp := req.ResponseKind().(*kmsg.OffsetForLeaderEpochResponse)
	needed := false
	for _, t := range req.Topics {
		rt := kmsg.NewOffsetForLeaderEpochResponseTopic()
		rt.Topic = t.Topic
		for _, p := range t.Partitions {
			l := &e.logs[p.Partition]
			rp := kmsg.NewOffsetForLeaderEpochResponseTopicPartition()
			rp.Partition = p.Partition
			switch {
			case l.leader != node:
				rp.ErrorCode = kerr.NotLeaderForPartition.Code
			case p.CurrentLeaderEpoch != -1 && p.CurrentLeaderEpoch < l.epoch:
				rp.ErrorCode = kerr.FencedLeaderEpoch.Code
			case p.CurrentLeaderEpoch > l.epoch:
				rp.ErrorCode = kerr.UnknownLeaderEpoch.Code
			default:
				rp.LeaderEpoch, rp.EndOffset = p.LeaderEpoch, 1<<62 // it goes on
				for _, b := range l.begins {
					if b.epoch > p.LeaderEpoch {
						rp.EndOffset, needed = b.offset, true
						break
					}
				}
			}
			rt.Partitions = append(rt.Partitions, rp)
		}
		resp.Topics = append(resp.Topics, rt)
	}
	if !needed {
		return nil
	}
	return resp
}
