package lora

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"macaron/internal/disk"
	"macaron/internal/engine/weights/safetensors"
	"macaron/internal/errs"
)

// peftConfig is adapter_config.json as it is written: what PEFT needs to load the adapter,
// and nothing that readConfig does not read.
type peftConfig struct {
	Type       string   `json:"peft_type"`
	Task       string   `json:"task_type"`
	Base       string   `json:"base_model_name_or_path"`
	Rank       int      `json:"r"`
	Alpha      float64  `json:"lora_alpha"`
	RsLoRA     bool     `json:"use_rslora"`
	Targets    []string `json:"target_modules"`
	Layers     []int    `json:"layers_to_transform"`
	Invocation []int32  `json:"alora_invocation_tokens"`
	Bias       string   `json:"bias"`
	Dropout    float64  `json:"lora_dropout"`
	Init       bool     `json:"init_lora_weights"`
	Inference  bool     `json:"inference_mode"`
}

// peft is the name of a tensor in PEFT's files.
func (p place) peft() string {
	half := "A"
	if p.b {
		half = "B"
	}
	module := headModule
	if p.target != Head {
		module = fmt.Sprintf("model.layers.%d.%s", p.layer, modules[p.target])
	}
	return fmt.Sprintf("base_model.model.%s.lora_%s.weight", module, half)
}

// TensorName is what PEFT's files call A or, with b, B of a target. The head's layer is not
// looked at.
func TensorName(layer int, t Target, b bool) string { return place{layer, t, b}.peft() }

// PEFT gives the two files of a PEFT directory: adapter_config.json and
// adapter_model.safetensors. Reading them again gives the same revision. Equal content
// gives equal bytes.
func (c *Content) PEFT() (configuration, weights []byte, err error) {
	if c.gguf {
		return nil, nil, errs.New(errs.Unsupported, "the adapter is a GGUF file, whose rows stand in the order of a base's file", "make it a PEFT adapter for its base first")
	}
	task, base := c.Task, c.Base
	if task == "" {
		task = "CAUSAL_LM"
	}
	if base == "" {
		base = string(c.rev.Base)
	}
	configuration, err = json.MarshalIndent(peftConfig{Type: c.Type, Task: task, Base: base, Rank: c.Rank, Alpha: c.Alpha, RsLoRA: c.RsLoRA, Targets: c.names(),
		Layers: slices.Sorted(maps.Keys(c.layers)), Invocation: c.invocation, Bias: "none", Init: true, Inference: true}, "", "  ")
	if err != nil {
		return nil, nil, errs.Wrap(errs.Internal, err, "cannot encode the adapter's configuration", "")
	}
	meta := map[string]string{"format": "pt"}
	if c.rev.Base != "" {
		meta["base"] = string(c.rev.Base)
	}
	var tensors []safetensors.Tensor
	for _, t := range c.tensors {
		tensors = append(tensors, *t)
	}
	var out bytes.Buffer
	if err := safetensors.Encode(&out, tensors, meta); err != nil {
		return nil, nil, err
	}
	return append(configuration, '\n'), out.Bytes(), nil
}

// WritePEFT makes a PEFT directory: under another name beside it, synced, then renamed, so
// that dir is there whole, with what stands beside, or not at all. An empty directory may be
// there already.
func (c *Content) WritePEFT(dir string, beside ...Beside) error {
	configuration, weights, err := c.PEFT()
	if err != nil {
		return err
	}
	return WriteFiles(dir, configuration, weights, beside...)
}

// Beside is a file of the directory that is not PEFT's, such as where the adapter comes from.
type Beside struct {
	Name  string
	Bytes []byte
}

// WriteFiles is WritePEFT for files that are there already.
func WriteFiles(dir string, configuration, weights []byte, beside ...Beside) error {
	parent := filepath.Dir(dir)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return disk.Error(err, dir+" cannot be written")
	}
	tmp, err := os.MkdirTemp(parent, "."+filepath.Base(dir)+"-")
	if err != nil {
		return disk.Error(err, dir+" cannot be written")
	}
	for _, f := range append([]Beside{{configFile, configuration}, {tensorsFile, weights}}, beside...) {
		if err == nil {
			err = disk.Replace(filepath.Join(tmp, f.Name), f.Bytes, 0o644)
		}
	}
	if err == nil {
		err = publish(tmp, dir)
	}
	if err != nil {
		return closing(func() error { return os.RemoveAll(tmp) }, err)
	}
	return disk.Error(disk.SyncDir(parent), dir+" cannot be written")
}

// publish gives a directory that is complete its name and everybody's right to read it.
func publish(tmp, dir string) error {
	if info, err := os.Lstat(dir); err == nil && info.IsDir() {
		os.Remove(dir) //nolint:errcheck // one that is not empty stays, and Rename says so
	}
	err := os.Chmod(tmp, 0o755)
	if err == nil {
		err = os.Rename(tmp, dir)
	}
	if errors.Is(err, fs.ErrExist) || errors.Is(err, syscall.ENOTDIR) {
		return errs.New(errs.InvalidRequest, dir+" is there already", "give another name")
	}
	return disk.Error(err, dir+" cannot be written")
}
