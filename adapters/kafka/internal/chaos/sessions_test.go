package chaos

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
)

// sessions is what the broker kept of its groups when it stopped.
//
// A coordinator that loads a group starts the session of each member anew. The
// broker in this process does not: it leaves out members whose session ended
// meanwhile, and keeps their partitions theirs, which then nobody gets. So
// every member is said to have been heard of right now; the dead ones are thrown
// out when their session ends.
type sessions struct {
	path string
	kept []byte
	// members that have to be there after a start.
	members int
}

func keptSessions(dir string) (*sessions, error) {
	s := &sessions{path: filepath.Join(dir, "session_state.json")}
	var err error
	if s.kept, err = os.ReadFile(s.path); err != nil {
		return nil, fmt.Errorf("chaos: what the broker kept of its sessions: %w", err)
	}
	return s, nil
}

// renew writes them down again, as of now.
func (s *sessions) renew() error {
	var state map[string]json.RawMessage
	if err := json.Unmarshal(s.kept, &state); err != nil {
		return fmt.Errorf("chaos: %s: %w", s.path, err)
	}
	s.members = 0
	for _, kind := range []string{"classicGroups", "consumerGroups"} {
		if state[kind] == nil {
			continue
		}
		var groups map[string]map[string]json.RawMessage
		if err := json.Unmarshal(state[kind], &groups); err != nil {
			return fmt.Errorf("chaos: %s: %w", s.path, err)
		}
		for _, g := range groups {
			var members []map[string]json.RawMessage
			if err := json.Unmarshal(g["members"], &members); err != nil {
				return fmt.Errorf("chaos: %s: %w", s.path, err)
			}
			s.members += len(members)
			for _, m := range members {
				m["lastHeartbeat"] = mustMarshal(time.Now())
			}
			g["members"] = mustMarshal(members)
		}
		state[kind] = mustMarshal(groups)
	}
	return os.WriteFile(s.path, mustMarshal(state), 0o644)
}

// complete is an error if a session ended while the broker started.
func (s *sessions) complete(c *kfake.Cluster) error {
	n := 0
	if g := c.GroupInfo(group); g != nil {
		n = len(g.Members)
	}
	if n < s.members {
		return fmt.Errorf("chaos: %d of %d members are there after a restart", n, s.members)
	}
	return nil
}

func mustMarshal(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // it was read from JSON
	}
	return text
}
