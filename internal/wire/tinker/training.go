package tinker

import (
	"math"
	"net/http"
	"time"

	"macaron/internal/errs"
	"macaron/internal/limits"
	"macaron/internal/mint"
	"macaron/internal/train"
)

// promised answers with the promise of an operation.
type promised struct {
	Request   string   `json:"request_id"`
	Model     string   `json:"model_id,omitempty"`
	Sequences []string `json:"sample_sequence_ids,omitempty"`
}

func (a *api) promise(w http.ResponseWriter, r *http.Request, p mint.Promise, err error) error {
	if err != nil {
		return err
	}
	return a.answer(w, r, promised(p))
}

// refuse answers an operation of a model that cannot be taken. If it has a number, that is
// taken by a future that fails: the SDK numbers on, and what comes behind must not wait for
// an operation that never will. Failures of ours and refusals for now are answered as such.
func (a *api) refuse(w http.ResponseWriter, r *http.Request, op mint.Op, model string, seq int64, why error) error {
	e := errs.As(why)
	switch e.Code {
	case errs.InvalidRequest, errs.Unsupported, errs.TooLarge, errs.ContextExceeded, errs.NotFound, errs.FormatInvalid:
	default:
		return why
	}
	if model == "" || seq < 1 {
		return why
	}
	p, err := a.Service.Refuse(r.Context(), a.owner(r), mint.Refused{Model: model, Seq: seq, Op: op, Code: e.Code, Why: detail(e)})
	if err != nil {
		return why
	}
	a.Failed(string(e.Code))
	return a.promise(w, r, p, nil)
}

// maxRank is far above what any base here can use.
const maxRank = 1024

func (a *api) createModel(w http.ResponseWriter, r *http.Request) error {
	o, err := body(r)
	if err != nil {
		return err
	}
	o.need("model_seq_id")
	c := mint.CreateModel{Session: o.id("session_id"), Seq: o.whole("model_seq_id", 0, 0, math.MaxInt64), Base: o.id("base_model"), Metadata: o.metadata("user_metadata")}
	c.Spec, c.Unseeded = spec(o)
	if err := o.close(); err != nil {
		return err
	}
	p, err := a.Service.CreateModel(r.Context(), a.owner(r), c)
	return a.promise(w, r, p, err)
}

// spec reads lora_config and optimizer_config. Alpha stands in no field of the protocol.
func spec(o *object) (s train.Spec, unseeded bool) {
	lora := o.object("lora_config")
	s = train.Spec{Rank: int(lora.whole("rank", 32, 1, maxRank)), Alpha: train.DefaultAlpha,
		Attn: lora.flag("train_attn", true), MLP: lora.flag("train_mlp", true), Unembed: lora.flag("train_unembed", true)}
	seed := lora.seed("seed")
	if seed != nil {
		s.Seed = *seed
	}
	o.fail(lora.close())
	o.optimizer()
	return s, seed == nil
}

// optimizer refuses an optimizer that there is not.
func (o *object) optimizer() {
	config := o.object("optimizer_config")
	if kind := config.name("type"); kind != "" && kind != adamw {
		o.fail(errs.New(errs.Unsupported, "there is no optimizer "+errs.Clip(kind), "use "+adamw).In("optimizer_config.type"))
	}
	config.of("version")
	o.fail(config.close())
}

// forwardBackward takes both content types. A forward pass alone comes here too, as
// protobuf with forward_only.
func (a *api) forwardBackward(w http.ResponseWriter, r *http.Request) error {
	c, err := read(r, trainBytes, true)
	if err != nil {
		return err
	}
	decode := func(b []byte) (mint.Forward, error) { return jsonForward(b, "forward_backward_input") }
	if c.proto {
		decode = protoForward
	}
	return a.pass(w, r, c.bytes, decode)
}

func (a *api) forward(w http.ResponseWriter, r *http.Request) error {
	c, err := read(r, trainBytes, false)
	if err != nil {
		return err
	}
	return a.pass(w, r, c.bytes, func(b []byte) (mint.Forward, error) { return jsonForward(b, "forward_input") })
}

func (a *api) pass(w http.ResponseWriter, r *http.Request, b []byte, decode func([]byte) (mint.Forward, error)) error {
	f, err := decode(b)
	var p mint.Promise
	if err == nil {
		p, err = a.Service.Forward(r.Context(), a.owner(r), f)
	}
	if err != nil {
		return a.refuse(w, r, mint.OpBack, f.Model, f.Seq, err)
	}
	return a.promise(w, r, p, nil)
}

func (a *api) customLoss(http.ResponseWriter, *http.Request) error {
	return errs.New(errs.Unsupported, "losses that are written by a client are not run here", "use forward_backward_custom, which computes them in the client; client/config says so")
}

func (a *api) optimStep(w http.ResponseWriter, r *http.Request) error {
	o, err := body(r)
	if err != nil {
		return err
	}
	s := mint.OptimStep{Model: o.id("model_id"), Seq: o.seq("seq_id", 1), Adam: adam(o)}
	var p mint.Promise
	if err = o.close(); err == nil {
		p, err = a.Service.OptimStep(r.Context(), a.owner(r), s)
	}
	if err != nil {
		return a.refuse(w, r, mint.OpStep, s.Model, s.Seq, err)
	}
	return a.promise(w, r, p, nil)
}

// adam reads adam_params; older clients send only what their caller has set.
func adam(o *object) train.Adam {
	if other := o.object("optimizer_params"); len(other.members) > 0 {
		o.fail(errs.New(errs.Unsupported, "there is no optimizer "+errs.Clip(other.name("type")), "send adam_params").In("optimizer_params.type"))
	}
	p := o.object("adam_params")
	const most = 1e9
	s := train.Adam{LearningRate: p.number("learning_rate", 1e-4, 0, most), Beta1: p.number("beta1", 0.9, 0, below1), Beta2: p.number("beta2", 0.95, 0, below1),
		Eps: p.number("eps", 1e-12, 0, most), WeightDecay: p.number("weight_decay", 0, 0, most), GradClipNorm: p.number("grad_clip_norm", 0, 0, math.MaxFloat64)}
	o.fail(p.close())
	return s
}

// below1 is the largest beta: with 1 a mean never moves, and its correction divides by zero.
const below1 = 1 - 1e-12

func (a *api) unload(w http.ResponseWriter, r *http.Request) error {
	o, err := body(r)
	if err != nil {
		return err
	}
	id := o.id("model_id")
	if err := o.close(); err != nil {
		return err
	}
	p, err := a.Service.Unload(r.Context(), a.owner(r), id)
	return a.promise(w, r, p, err)
}

// The times for which a checkpoint may be kept; it is kept for good without one.
const (
	leastTTL = 3600
	mostTTL  = 10 * 366 * 24 * 3600
)

func ttl(o *object) time.Duration {
	return time.Duration(o.whole("ttl_seconds", 0, leastTTL, mostTTL)) * time.Second
}

func (a *api) save(w http.ResponseWriter, r *http.Request) error {
	o, err := body(r)
	if err != nil {
		return err
	}
	return a.saveAs(w, r, o, mint.Training)
}

func (a *api) saveExternal(w http.ResponseWriter, r *http.Request) error {
	o, err := body(r)
	if err != nil {
		return err
	}
	if len(o.list("age_encryption_recipients", limits.Metadata)) > 0 {
		return errs.New(errs.Unsupported, "checkpoints are not encrypted here", "leave age_encryption_recipients out, and encrypt what you download").In("age_encryption_recipients")
	}
	return a.saveAs(w, r, o, mint.External)
}

func (a *api) saveAs(w http.ResponseWriter, r *http.Request, o *object, kind mint.Kind) error {
	s := mint.Save{Model: o.id("model_id"), Seq: o.seq("seq_id", 1), Kind: kind, Name: o.name("path"), TTL: ttl(o), Overwrite: o.flag("overwrite", false), Metadata: o.metadata("user_metadata")}
	var p mint.Promise
	err := o.close()
	if err == nil {
		p, err = a.Service.Save(r.Context(), a.owner(r), s)
	}
	if err != nil {
		return a.refuse(w, r, mint.OpSave, s.Model, s.Seq, err)
	}
	return a.promise(w, r, p, nil)
}

// saveSampler keeps a checkpoint when a name is given; otherwise it makes a sampler of the
// state, once (snapshot) or one that moves on (inflight).
func (a *api) saveSampler(w http.ResponseWriter, r *http.Request) error {
	o, err := body(r)
	if err != nil {
		return err
	}
	if _, ephemeral := o.of("sampling_session_seq_id"); !ephemeral {
		o.of("kind")
		return a.saveAs(w, r, o, mint.Sampling)
	}
	s := mint.SaveSampler{Model: o.id("model_id"), Seq: o.seq("seq_id", 1), SamplerSeq: o.whole("sampling_session_seq_id", 0, 0, math.MaxInt64)}
	switch kind := o.name("kind"); kind {
	case "", "snapshot":
	case "inflight":
		s.Inflight = true
	default:
		o.fail(errs.New(errs.InvalidRequest, "there is no kind "+errs.Clip(kind), "use snapshot or inflight").In("kind"))
	}
	for _, name := range []string{"path", "ttl_seconds", "user_metadata"} { // they are of a checkpoint, and there is none
		o.of(name)
	}
	var p mint.Promise
	if err = o.close(); err == nil {
		p, err = a.Service.SaveSampler(r.Context(), a.owner(r), s)
	}
	if err != nil {
		return a.refuse(w, r, mint.OpSampler, s.Model, s.Seq, err)
	}
	return a.promise(w, r, p, nil)
}

// load takes a checkpoint into a model, or begins a training run from one.
func (a *api) load(w http.ResponseWriter, r *http.Request) error {
	o, err := body(r)
	if err != nil {
		return err
	}
	var l mint.Load
	if _, created := o.of("session_id"); created {
		o.need("model_seq_id")
		l.Session, l.ModelSeq = o.id("session_id"), o.whole("model_seq_id", 0, 0, math.MaxInt64)
	} else {
		l.Model, l.Seq = o.id("model_id"), o.seq("seq_id", 1)
	}
	l.Path, l.Optimizer, l.Base, l.Metadata = o.uri("path"), o.flag("optimizer", false), o.name("base_model"), o.metadata("user_metadata")
	o.optimizer()
	o.of("weights_access_token") // a published checkpoint needs none
	var p mint.Promise
	if err = o.close(); err == nil {
		p, err = a.Service.Load(r.Context(), a.owner(r), l)
	}
	if err != nil {
		return a.refuse(w, r, mint.OpLoad, l.Model, l.Seq, err)
	}
	return a.promise(w, r, p, nil)
}
