// Package queues holds multi-producer queues that were measured and not
// taken, so that their figures can be made again.
//
// Ring is a bounded ring in which every cell has a turn (Dmitry Vyukov's
// bounded queue). Ticket is a chain of segments whose cells are claimed by
// fetch-add and popped strictly in that order. Stack is a linked stack that the
// consumer takes whole. All of them keep the order of one goroutine's pushes
// and are for many producers and one consumer. They are correct and plain:
// there is no reuse of memory beyond what the form gives for nothing, no Wait
// and no Close.
package queues
