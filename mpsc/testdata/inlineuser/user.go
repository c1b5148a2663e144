// Package inlineuser uses the queues as an embedder does; a test looks at its
// machine code.
package inlineuser

import "github.com/tidemark-go/tidemark/mpsc"

type owner struct{}

func Push(q *mpsc.Queue[int], v int) bool    { return q.Push(v) }
func Lane(p *mpsc.Producer[int], v int) bool { return p.Push(v) }
func Pop(q *mpsc.Queue[int]) (int, bool)     { return q.TryPop() }
func Reserve(q *mpsc.InOrder[int, owner])    { r, _ := q.Reserve(1); r.Release() }
func Collect(in *mpsc.Inbox[int, owner])     { in.Collect(nil) }
