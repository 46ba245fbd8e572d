package train

// Datum is one example. Position i of Tokens predicts the targets of position i: whoever
// makes it has shifted them. Fields of Inputs that a loss does not read are refused.
type Datum struct {
	Tokens []int32           // [n]
	Inputs map[string]Tensor // by the loss's own names: target_tokens, weights, advantages, logprobs, ...
	From   Origins           // no loss reads it
}

// Origins are what a datum's maker says of where its tokens came from: stretches one behind
// the other that cover all of them, or nothing.
type Origins struct {
	Input   []Origin // of Tokens
	Targets []Origin // of target_tokens
}

// Origin is a stretch of a sample: of its prompt or, Sampled, of its answer.
type Origin struct {
	Sequence       string // as the answer named it
	Offset, Length int64
	Sampled        bool
}

// Tensor is a dense array, row by row. One of Floats and Ints is set.
type Tensor struct {
	Floats []float32
	Ints   []int64
	Shape  []int64 // empty: one axis of all values
}

// Loss is a loss by name with its settings. Every loss is a sum over all positions of all
// data, never a mean.
type Loss struct {
	Name   string
	Config map[string]float64
}

// Output is what a forward pass, with or without a backward one, found.
type Output struct {
	Logprobs []Tensor           // by datum, [n] or [n, k]: of the targets
	Metrics  map[string]float64 // name:reduction, such as loss:sum
}

// Sequence is what the graph computes: tokens and the targets whose log probabilities are
// asked for. Gradients come back through those log probabilities only.
type Sequence struct {
	Tokens  []int32 // [n], at positions 0 to n-1
	Targets []int32 // [n, K]; -1: nothing is asked for there
	K       int
	Prompt  int // so many positions at the beginning have no slope, whatever their log probabilities
}
