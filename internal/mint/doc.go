// Package mint is the service behind the Tinker protocol: it trains LoRA adapters of the
// base that serves, and samples from every state of them. It keeps sessions, models under
// training, samplers, checkpoints, and the futures that all work is answered with.
//
// An operation is journaled before its promise is given, and its result is committed
// together with the step it took its model to. A model is a snapshot and the operations
// after it; training is deterministic, so carrying these out once more, here or on another
// worker, gives the same bits. What was promised resolves once, whatever is killed when.
//
// Every call names its owner (the tenant). What another owner has does not exist.
package mint
