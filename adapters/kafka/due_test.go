package kafka

import (
	"context"
	"time"
)

// DueContext has a deadline, and is done when its owner ends the context inside:
// a test decides what happens first, and not how fast the machine is.
type DueContext struct {
	context.Context
	At time.Time
}

func (c DueContext) Deadline() (time.Time, bool) { return c.At, true }
