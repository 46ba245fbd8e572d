package action

// Bounds on what a card may say.
const (
	MaxAction   = 64 << 10 // bytes of one Action as JSON
	MaxText     = 4000     // bytes of a message
	MaxName     = 64       // bytes of a name, a key or a capability
	MaxNode     = 128      // bytes
	MaxKeys     = 64       // keys that one Action reads
	MaxPointers = 64       // NoAI pointers of one Action
	MaxDepth    = 16       // how deep a value may nest
	MaxSecrets  = 256      // NoAI values of one surface; with more, no dynamic text leaves it
)
