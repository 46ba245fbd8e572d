package train

// Spec is the shape of an adapter to train.
type Spec struct {
	Rank    int
	Alpha   float64  // 0: DefaultAlpha; the adapter's part is alpha/rank times B A x
	RsLoRA  bool     // alpha/sqrt(rank) instead
	Seed    uint64   // of the first values
	Attn    bool     // q, k, v and o
	MLP     bool     // gate, up and down
	Unembed bool     // a delta on the logits, whether or not the head is tied to the embedding
	Targets []string // PEFT module names, instead of the three above
}

// DefaultAlpha is what the Tinker service uses, whatever the rank.
const DefaultAlpha = 32

// Adam is one step of AdamW. The zero value of a field means zero: defaults belong to
// whoever decodes a request (learning rate 1e-4, betas 0.9 and 0.95, epsilon 1e-12).
type Adam struct {
	LearningRate float64
	Beta1, Beta2 float64
	Eps          float64
	WeightDecay  float64 // decoupled
	GradClipNorm float64 // of all gradients together; 0: off
}
