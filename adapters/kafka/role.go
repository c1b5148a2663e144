package kafka

import (
	"sync/atomic"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// groupRole follows whether this member leads its classic group. The client
// does not tell, but asks only the leader's balancer to look at the members.
//
// A static leader that restarts at a broker from before KIP-814 is not asked,
// and counts as a follower until the group balances again.
type groupRole struct {
	// asked: the balancer was asked in the join under way. Written by the
	// client's group goroutine alone: false by each join, true by the request
	// to balance; taken over into leads by the join's end.
	asked bool
	// leads: this member led when it last finished to join. Written by the
	// client's group goroutine, read by whoever begins a barrier.
	leads atomic.Bool
}

// watch returns a balancer that does as b does.
func (r *groupRole) watch(b kgo.GroupBalancer) kgo.GroupBalancer {
	return roleBalancer{b, r}
}

// roleBalancer passes everything on and notes what it is asked.
type roleBalancer struct {
	kgo.GroupBalancer
	role *groupRole
}

// JoinGroupMetadata is asked of each member at the start of a join.
func (b roleBalancer) JoinGroupMetadata(topics []string, current map[string][]int32, generation int32) []byte {
	b.role.asked = false
	return b.GroupBalancer.JoinGroupMetadata(topics, current, generation)
}

// MemberBalancer is asked of the leader when all members have joined.
func (b roleBalancer) MemberBalancer(members []kmsg.JoinGroupResponseMember) (kgo.GroupMemberBalancer, map[string]struct{}, error) {
	b.role.asked = true
	return b.GroupBalancer.MemberBalancer(members)
}

// ParseSyncAssignment is asked of each member at the end of a join.
func (b roleBalancer) ParseSyncAssignment(assigned []byte) (map[string][]int32, error) {
	b.role.leads.Store(b.role.asked)
	return b.GroupBalancer.ParseSyncAssignment(assigned)
}
