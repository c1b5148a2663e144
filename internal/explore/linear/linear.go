// Package linear judges the histories of explored executions: whether what the
// threads saw can be explained by some order of their operations in which each
// takes effect at one moment between its beginning and its end.
package linear

import (
	"fmt"

	"github.com/anishathalye/porcupine"

	"github.com/tidemark-go/tidemark/internal/explore"
)

// Checker judges histories by a model. Executions repeat the same few
// histories, so it remembers the verdicts.
type Checker struct {
	model    porcupine.Model
	verdicts map[string]bool
	key      []byte
}

// NewChecker returns a checker for a model, whose inputs and outputs must print
// differently if they are different.
func NewChecker(model porcupine.Model) *Checker {
	return &Checker{model: model, verdicts: map[string]bool{}}
}

// Check returns an error if the operations have no legal order.
func (c *Checker) Check(h *explore.History) error {
	c.key = c.key[:0]
	for _, o := range h.Made {
		c.key = fmt.Appendf(c.key, "thread %d, %d to %d: %v gives %v\n", o.Thread, o.Call, o.Return, o.Input, o.Output)
	}
	legal, known := c.verdicts[string(c.key)]
	if !known {
		operations := make([]porcupine.Operation, len(h.Made))
		for i, o := range h.Made {
			operations[i] = porcupine.Operation{ClientId: o.Thread, Input: o.Input, Call: o.Call, Output: o.Output, Return: o.Return}
		}
		legal = porcupine.CheckOperations(c.model, operations)
		c.verdicts[string(c.key)] = legal
	}
	if !legal {
		return fmt.Errorf("no order explains\n%s", c.key)
	}
	return nil
}
