package checkpointtest

// ModelAckSet is a list of holds.
type ModelAckSet struct{ holds []ModelAck }

// Add takes one hold over; a zero handle is none.
func (s *ModelAckSet) Add(a ModelAck) {
	if a.b != nil {
		s.holds = append(s.holds, a)
	}
}

// Absorb moves all holds of o.
func (s *ModelAckSet) Absorb(o *ModelAckSet) {
	if s == o {
		return
	}
	s.holds = append(s.holds, o.holds...)
	o.holds = nil
}

// Len counts holds.
func (s *ModelAckSet) Len() int { return len(s.holds) }

// Deliver releases every hold.
func (s *ModelAckSet) Deliver() {
	for _, a := range s.holds {
		a.Release()
	}
	s.holds = nil
}

// Close fails and releases every hold.
func (s *ModelAckSet) Close() error {
	for _, a := range s.holds {
		a.Fail()
		a.Release()
	}
	s.holds = nil
	return nil
}

// ModelSubject is the model as a subject: the suite must pass on it.
func ModelSubject() Subject {
	s := Adapt("model", LacksMemory|LacksFlatCost, NewModel)
	return WithAckSet(s, func() *ModelAckSet { return new(ModelAckSet) })
}
