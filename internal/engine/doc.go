// Package engine serves a model: many requests at once over one set of weights, each
// with its own adapter. It knows token ids and adapter revisions, and neither text nor
// sessions.
//
// One goroutine owns all state and repeats four things: add waiting requests whose
// pages are available, schedule the rows of the next step, compute the step, emit what
// came out. A request's results are the same bits alone or in company, with any number
// of threads, from the cache or cold, in one chunk or many.
package engine
