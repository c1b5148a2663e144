package chaos

import (
	"encoding/gob"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"
)

// record is what a member delivers.
type record struct {
	Offset int64
	Value  []byte
}

// message is what a member tells the sink. It goes on when it is answered.
type message struct {
	Member    int
	Partition int32
	Admission int
	Records   []record
	// Loss, if set, is a data loss that the source reported.
	Loss string
}

// sink takes messages for the oracle.
type sink struct {
	o        *oracle
	listener net.Listener
	handlers sync.WaitGroup
}

func newSink(o *oracle) (*sink, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &sink{o: o, listener: l}
	s.handlers.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			s.handlers.Go(func() { s.handle(conn) })
		}
	})
	return s, nil
}

// handle serves one member until it is gone.
func (s *sink) handle(conn net.Conn) {
	defer conn.Close()
	in, out := gob.NewDecoder(conn), gob.NewEncoder(conn)
	for {
		var m message
		if in.Decode(&m) != nil {
			return
		}
		if m.Loss != "" {
			s.o.object("member %d reports a data loss, and there was none: %s", m.Member, m.Loss)
		} else {
			s.o.delivered(ownership{m.Member, m.Partition, m.Admission}, m.Records)
		}
		if out.Encode(true) != nil {
			return
		}
	}
}

// close returns when every member is gone.
func (s *sink) close() {
	s.listener.Close()
	s.handlers.Wait()
}

// sender is a member's end of the sink. It is safe for concurrent use.
type sender struct {
	member int
	mu     sync.Mutex
	in     *gob.Decoder
	out    *gob.Encoder
}

func dialSink(addr string, member int) (*sender, error) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	return &sender{member: member, in: gob.NewDecoder(conn), out: gob.NewEncoder(conn)}, nil
}

// send returns when the sink has the message. A member without a sink has
// nothing to do any more.
func (s *sender) send(m message) {
	m.Member = s.member
	s.mu.Lock()
	defer s.mu.Unlock()
	var ok bool
	if err := errors.Join(s.out.Encode(m), s.in.Decode(&ok)); err != nil {
		fmt.Fprintln(os.Stderr, "the sink is gone:", err)
		os.Exit(exitNoSink)
	}
}

func (s *sender) deliver(partition int32, admission int, records []*kgo.Record) {
	m := message{Partition: partition, Admission: admission}
	for _, r := range records {
		m.Records = append(m.Records, record{r.Offset, r.Value})
	}
	s.send(m)
}
