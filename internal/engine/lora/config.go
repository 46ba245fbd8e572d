package lora

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"macaron/internal/disk"
	"macaron/internal/errs"
)

// MaxRank bounds the rank of an adapter.
const MaxRank = 1024

const maxConfig = 1 << 20 // bytes of adapter_config.json

// The files of a PEFT directory.
const (
	configFile  = "adapter_config.json"
	tensorsFile = "adapter_model.safetensors"
)

// config is the part of adapter_config.json that decides what is computed.
type config struct {
	Type    string          `json:"peft_type"`
	Task    string          `json:"task_type"`
	Base    string          `json:"base_model_name_or_path"`
	Rank    int             `json:"r"`
	Alpha   float64         `json:"lora_alpha"`
	RsLoRA  bool            `json:"use_rslora"`
	Targets json.RawMessage `json:"target_modules"`
	Layers  json.RawMessage `json:"layers_to_transform"`
	Pattern json.RawMessage `json:"layers_pattern"`
	Bias    string          `json:"bias"`
	Init    json.RawMessage `json:"init_lora_weights"`
	Invoked json.RawMessage `json:"alora_invocation_tokens"`

	targets    map[Target]bool
	layers     map[int]bool // nil: all
	invocation []int32      // tokens from which on the adapter acts; nil: it acts everywhere
	gguf       bool         // the file is GGUF: it declares neither targets nor rank
	arch       string       // of the base that a GGUF file is for
}

// quiet are the keys that change nothing about a trained adapter: how it was trained
// and started, and where. Every other key that is not in config must be empty.
var quiet = map[string]bool{
	"auto_mapping": true, "revision": true, "inference_mode": true, "lora_dropout": true, "megatron_config": true,
	"megatron_core": true, "peft_version": true, "qalora_group_size": true, "corda_config": true, "eva_config": true,
	"loftq_config": true, "lora_ga_config": true, "ensure_weight_tying": true, "exclude_modules": true, "runtime_config": true,
}

func bad(format string, args ...any) error { return errs.Newf(errs.FormatInvalid, format, args...) }

func unsupported(message string) error {
	return errs.New(errs.Unsupported, message, "train the adapter as plain LoRA on the linear layers, or merge what is special into the base")
}

// readConfig reads adapter_config.json of a directory.
func readConfig(dir string) (config, error) {
	path := filepath.Join(dir, configFile)
	info, err := os.Stat(path) // first: to open a pipe would wait for a writer
	if err != nil || !info.Mode().IsRegular() {
		return config{}, errs.Wrap(errs.NotFound, cmp.Or(err, fs.ErrInvalid), "there is no adapter_config.json in "+dir, "give a directory that PEFT saved an adapter to")
	}
	f, err := os.Open(path)
	if err != nil {
		return config{}, disk.OpenError(err, "cannot open "+path, "check its permissions")
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxConfig+1))
	if err != nil {
		return config{}, disk.Error(err, "cannot read "+path)
	}
	return parseConfig(raw)
}

func parseConfig(raw []byte) (config, error) {
	if len(raw) > maxConfig {
		return config{}, bad("adapter_config.json has more than %d bytes", maxConfig)
	}
	var c config
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(raw, &keys); err != nil {
		return c, bad("adapter_config.json is not a JSON object: %v", err)
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		return c, bad("adapter_config.json: %v", err)
	}
	known := map[string]bool{"peft_type": true, "task_type": true, "base_model_name_or_path": true, "r": true, "lora_alpha": true, "use_rslora": true,
		"target_modules": true, "layers_to_transform": true, "layers_pattern": true, "bias": true, "init_lora_weights": true, "alora_invocation_tokens": true}
	for _, k := range slices.Sorted(maps.Keys(keys)) {
		if !known[k] && !quiet[k] && !empty(keys[k]) {
			return c, unsupported(fmt.Sprintf("adapter_config.json sets %q to %s, which is not supported", k, errs.Clip(string(keys[k]))))
		}
	}
	if err := c.check(); err != nil {
		return c, err
	}
	return c, c.readLists()
}

// check looks at what every format says.
func (c *config) check() error {
	switch {
	case c.Type != "LORA":
		return unsupported(fmt.Sprintf("peft_type is %q; only LORA is supported", c.Type))
	case c.Task != "" && c.Task != "CAUSAL_LM":
		return unsupported(fmt.Sprintf("task_type is %q; only CAUSAL_LM is supported", c.Task))
	case c.Rank < 1 || c.Rank > MaxRank:
		return bad("the rank r is %d, beyond 1 to %d", c.Rank, MaxRank)
	case !(math.Abs(c.Alpha) <= 1e6) || c.scale() == 0:
		return bad("lora_alpha is %v, which gives no usable scale", c.Alpha)
	case c.Bias != "" && c.Bias != "none":
		return unsupported(fmt.Sprintf("bias is %q; trained biases are not supported", c.Bias))
	}
	switch init := string(bytes.TrimSpace(c.Init)); init {
	case "", "null", "true", "false", `"gaussian"`, `"eva"`, `"orthogonal"`:
	default:
		return unsupported(fmt.Sprintf("init_lora_weights is %s, which changes the base itself", errs.Clip(string(c.Init))))
	}
	return nil
}

// readLists takes what adapter_config.json gives as lists.
func (c *config) readLists() error {
	if err := c.readTargets(); err != nil {
		return err
	}
	if err := c.readLayers(); err != nil {
		return err
	}
	return c.readInvocation()
}

// readTargets takes target_modules: names of modules, or "all-linear", which means those
// of the layers, as in PEFT.
func (c *config) readTargets() error {
	c.targets = map[Target]bool{}
	var names []string
	if err := json.Unmarshal(c.Targets, &names); err != nil || len(names) == 0 {
		if string(c.Targets) != `"all-linear"` {
			return unsupported("target_modules is " + errs.Clip(string(c.Targets)) + "; it must be a list of module names or \"all-linear\"")
		}
		names = modules[:]
	}
	for _, n := range names {
		t, ok := targetOf(n)
		if !ok {
			return errs.New(errs.Unsupported, fmt.Sprintf("target_modules names %q, which this base does not have; it has: %s", errs.Clip(n), strings.Join(shortNames(), ", ")),
				"use an adapter of a base of the same architecture")
		}
		c.targets[t] = true
	}
	return nil
}

// targetOf finds the target that a module name ends in.
func targetOf(name string) (Target, bool) {
	if name == headModule {
		return Head, true
	}
	for t, m := range modules {
		short := m[strings.IndexByte(m, '.')+1:]
		if name == short || name == m || strings.HasSuffix(name, "."+short) {
			return Target(t), true
		}
	}
	return 0, false
}

// TargetNames are the last parts of the modules' names, by target, the head's last.
func TargetNames() []string { return shortNames() }

// ParseTarget finds the target of a name of TargetNames.
func ParseTarget(name string) (Target, bool) {
	at := slices.Index(shortNames(), name)
	return Target(max(at, 0)), at >= 0
}

// String gives the name of TargetNames.
func (t Target) String() string { return shortNames()[t] }

// shortNames are the last parts of the modules' names, by target, the head's included.
func shortNames() []string {
	var out []string
	for _, m := range modules {
		out = append(out, m[strings.IndexByte(m, '.')+1:])
	}
	return append(out, headModule)
}

// readLayers takes layers_to_transform: null, a number or numbers.
func (c *config) readLayers() error {
	if empty(c.Layers) && string(c.Layers) != "0" {
		return nil
	}
	var list []int
	if err := json.Unmarshal(c.Layers, &list); err != nil {
		var one int
		if err := json.Unmarshal(c.Layers, &one); err != nil {
			return bad("layers_to_transform is %s, not a number or a list of numbers", errs.Clip(string(c.Layers)))
		}
		list = []int{one}
	}
	if p := string(c.Pattern); !empty(c.Pattern) && p != `"layers"` && p != `["layers"]` {
		return unsupported("layers_pattern is " + errs.Clip(string(c.Pattern)) + "; only \"layers\" is supported")
	}
	c.layers = map[int]bool{}
	for _, l := range list {
		c.layers[l] = true
	}
	return nil
}

// MaxInvocation bounds the tokens that activate an adapter.
const MaxInvocation = 256

// readInvocation takes alora_invocation_tokens: null, or the tokens from whose last
// occurrence on the adapter acts (activated LoRA, arXiv 2504.12397).
func (c *config) readInvocation() error {
	if v := string(bytes.TrimSpace(c.Invoked)); v == "" || v == "null" {
		return nil
	}
	var tokens []int64
	if err := json.Unmarshal(c.Invoked, &tokens); err != nil {
		return bad("alora_invocation_tokens is %s, not a list of token ids", errs.Clip(string(c.Invoked)))
	}
	return c.setInvocation(tokens)
}

func (c *config) setInvocation(tokens []int64) error {
	if len(tokens) == 0 || len(tokens) > MaxInvocation {
		return bad("the adapter names %d invocation tokens; 1 to %d are possible", len(tokens), MaxInvocation)
	}
	for _, t := range tokens {
		if t < 0 || t > math.MaxInt32 {
			return bad("the invocation token %d is no token id", t)
		}
		c.invocation = append(c.invocation, int32(t))
	}
	return nil
}

// plainAlpha is the alpha that gives the same scale by plain LoRA's rule, alpha/r: what
// a rank-stabilised adapter does is part of its identity.
func (c *config) plainAlpha() float64 {
	if c.RsLoRA {
		return c.Alpha * math.Sqrt(float64(c.Rank))
	}
	return c.Alpha
}

// scale is what the product of A and B is multiplied with.
func (c *config) scale() float32 { return float32(c.plainAlpha() / float64(c.Rank)) }

// names gives the sorted short names of the targets.
func (c *config) names() []string {
	var out []string
	for t, short := range shortNames() {
		if c.targets[Target(t)] {
			out = append(out, short)
		}
	}
	slices.Sort(out)
	return out
}

func empty(v json.RawMessage) bool {
	switch string(bytes.TrimSpace(v)) {
	case "", "null", "false", "0", "{}", "[]", `""`:
		return true
	}
	return false
}
