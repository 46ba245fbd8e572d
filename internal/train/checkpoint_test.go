package train

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"macaron/internal/engine/lora"
	"macaron/internal/engine/weights/safetensors"
	"macaron/internal/errs"
)

func saved(t testing.TB, tr *Trainer, cursor string) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := tr.Save(&b, cursor); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func back(t testing.TB, tr *Trainer, weight float32) {
	t.Helper()
	if _, err := tr.ForwardBackward(t.Context(), []Datum{datum(weight)}, ce); err != nil {
		t.Fatal(err)
	}
}

// TestResumedIsTheSame: from a state between two passes of one batch on, another trainer
// takes the same steps to the last bit.
func TestResumedIsTheSame(t *testing.T) {
	tr := newTrainer(t, scripted{gradient: 0.01}, everything)
	advance(t, tr, 3)
	back(t, tr, 0.4)
	raw := saved(t, tr, `{"row":17}`)
	if !bytes.Equal(raw, saved(t, tr, `{"row":17}`)) {
		t.Error("one state gives two files")
	}
	c, err := ReadCheckpoint(raw)
	if err != nil || c.Cursor != `{"row":17}` || c.Steps != 3 || c.Pending != 1 {
		t.Fatalf("%+v, %v", c, err)
	}
	other, err := Resume(scripted{gradient: 0.01}, shape(), 64, c, All)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []*Trainer{tr, other} {
		back(t, x, -0.9)
		if _, err := x.OptimStep(t.Context(), DefaultAdam); err != nil {
			t.Fatal(err)
		}
		advance(t, x, 2)
	}
	if !bytes.Equal(saved(t, tr, ""), saved(t, other, "")) {
		t.Error("the resumed trainer went another way")
	}
}

// TestHowMuchIsRestored: weights alone begin the optimizer anew, and waiting gradients
// come back only with all.
func TestHowMuchIsRestored(t *testing.T) {
	tr := newTrainer(t, scripted{gradient: 0.01}, everything)
	advance(t, tr, 2)
	back(t, tr, 1)
	c, err := ReadCheckpoint(saved(t, tr, ""))
	if err != nil {
		t.Fatal(err)
	}
	want := hash(t, tr)
	for how, steps := range map[Restored]int64{Weights: 0, Optimizer: 2, All: 2} {
		x := newTrainer(t, scripted{}, everything)
		back(t, x, 1)
		if err := x.Load(c, how); err != nil {
			t.Fatal(err)
		}
		if hash(t, x) != want || x.Steps() != steps || (x.pending == 1) != (how == All) || (x.moments[0] == nil) != (how == Weights) {
			t.Errorf("%d: step %d, %d pending", how, x.steps, x.pending)
		}
	}
}

// TestFromAnAdapter: an exported adapter that is taken up again is the same revision.
func TestFromAnAdapter(t *testing.T) {
	tr := newTrainer(t, scripted{gradient: 1}, everything)
	advance(t, tr, 2)
	a, err := tr.Adapter()
	if err != nil {
		t.Fatal(err)
	}
	again, err := From(scripted{}, shape(), 64, a)
	if err != nil || hash(t, again) != hash(t, tr) {
		t.Errorf("%v", err)
	}
}

// TestNothingOfTheOptimizerIsExported: the exported files are the same after a step that
// changes moments alone.
func TestNothingOfTheOptimizerIsExported(t *testing.T) {
	export := func(steps int) string {
		tr := newTrainer(t, scripted{}, everything)
		advance(t, tr, steps)
		dir := filepath.Join(t.TempDir(), "out")
		if err := tr.Export(dir); err != nil {
			t.Fatal(err)
		}
		raw, err := os.ReadFile(filepath.Join(dir, "adapter_model.safetensors"))
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	if fresh := export(0); fresh != export(3) || strings.Contains(fresh, "exp_avg") {
		t.Error("the export has more than the values that serve")
	}
}

func TestKeepAndLatest(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	if _, err := Latest(dir); errs.CodeOf(err) != errs.NotFound {
		t.Errorf("nothing there: %v", err)
	}
	tr := newTrainer(t, scripted{gradient: 1}, everything)
	for i := range 3 {
		advance(t, tr, 1)
		if _, err := tr.Keep(dir, strings.Repeat("x", i)); err != nil {
			t.Fatal(err)
		}
	}
	c, err := Latest(dir)
	if err != nil || c.Steps != 3 || c.Cursor != "xx" {
		t.Errorf("%+v, %v", c, err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != 2 {
		t.Errorf("%v, %v", files, err)
	}
	if err := os.WriteFile(files[0], []byte("other"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Latest(dir); errs.CodeOf(err) != errs.ChecksumMismatch && errs.CodeOf(err) != errs.FormatInvalid {
		t.Errorf("changed content: %v", err)
	}
}

// remade is a checkpoint with changed tensors and state.
func remade(t testing.TB, raw []byte, change func(*safetensors.File)) []byte {
	t.Helper()
	f, err := safetensors.Parse(bytes.Clone(raw))
	if err != nil {
		t.Fatal(err)
	}
	change(f)
	var out bytes.Buffer
	if err := safetensors.Encode(&out, f.Tensors, f.Meta); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestHostileCheckpoints(t *testing.T) {
	tr := newTrainer(t, scripted{gradient: 1}, Spec{Rank: 2, Seed: 1, Targets: []string{"v_proj"}})
	advance(t, tr, 1)
	raw := saved(t, tr, "")
	said := func(from, to string) func(*safetensors.File) {
		return func(f *safetensors.File) {
			was := f.Meta["state"]
			if f.Meta["state"] = strings.Replace(was, from, to, 1); f.Meta["state"] == was {
				t.Fatalf("the state %s has no %s", was, from)
			}
		}
	}
	value := func(i int, b ...byte) func(*safetensors.File) {
		return func(f *safetensors.File) { f.Tensors[i].Data = append(b, f.Tensors[i].Data[len(b):]...) }
	}
	for name, change := range map[string]func(*safetensors.File){
		"no format":      func(f *safetensors.File) { delete(f.Meta, "format") },
		"no state":       func(f *safetensors.File) { delete(f.Meta, "state") },
		"other version":  func(f *safetensors.File) { f.Meta["version"] = "2" },
		"unknown field":  said(`"rank"`, `"extra":1,"rank"`),
		"two objects":    func(f *safetensors.File) { f.Meta["state"] += "{}" },
		"other rank":     said(`"rank":2`, `"rank":3`),
		"vast rank":      said(`"rank":2`, `"rank":1024`),
		"no rank":        said(`"rank":2`, `"rank":0`),
		"unknown target": said(`"v_proj"`, `"c_attn"`),
		"other target":   said(`"v_proj"`, `"k_proj"`),
		"target twice":   said(`"v_proj"`, `"v_proj","v_proj"`),
		"no target":      said(`"v_proj"`, ``),
		"fewer steps":    said(`"steps":1`, `"steps":0`),
		"negative steps": said(`"steps":1`, `"steps":-1`),
		"pending":        said(`"pending":0`, `"pending":4`),
		"no alpha":       said(`"alpha":32`, `"alpha":0`),
		"seed of text":   said(`"seed":"1"`, `"seed":"one"`),
		"signed seed":    said(`"seed":"1"`, `"seed":"+1"`),
		"base of text":   said(`"base":""`, `"base":"sha256:1"`),
		"other base":     said(`"base":""`, `"base":"sha256:`+strings.Repeat("ab", 32)+`"`),
		"missing tensor": func(f *safetensors.File) { f.Tensors = f.Tensors[1:] },
		"renamed tensor": func(f *safetensors.File) { f.Tensors[0].Name += "x" },
		"further tensor": func(f *safetensors.File) {
			f.Tensors = append(f.Tensors, safetensors.FromFloat32("x", []uint64{1}, []float32{1}))
		},
		"other type": func(f *safetensors.File) { f.Tensors[0].DType = safetensors.I32 },
		"turned":     func(f *safetensors.File) { s := f.Tensors[0].Shape; s[0], s[1] = s[1], s[0] },
		"no number":  value(0, 0, 0, 0xc0, 0x7f),
		"infinite":   value(0, 0, 0, 0x80, 0x7f),
	} {
		c, err := ReadCheckpoint(remade(t, raw, change))
		if err == nil {
			_, err = Resume(scripted{}, shape(), 64, c, All)
		}
		if code := errs.CodeOf(err); code != errs.FormatInvalid && code != errs.Unsupported || errs.As(err).Next == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	negative := remade(t, raw, func(f *safetensors.File) {
		for i := range f.Tensors {
			if strings.HasSuffix(f.Tensors[i].Name, "exp_avg_sq") {
				value(i, 0, 0, 0x80, 0xbf)(f)
			}
		}
	})
	c, err := ReadCheckpoint(negative)
	if err == nil {
		_, err = Resume(scripted{}, shape(), 64, c, All)
	}
	if errs.CodeOf(err) != errs.FormatInvalid {
		t.Errorf("a negative second moment: %v", err)
	}
}

// FuzzCheckpoint: whatever is read either fails with a coded error or can be saved again.
func FuzzCheckpoint(f *testing.F) {
	small := lora.Shape{Layers: 1, HeadDim: 2, Vocab: 4, In: [lora.Targets]int{2, 2, 2, 2, 2, 2, 2}, Out: [lora.Targets]int{2, 2, 2, 2, 2, 2, 2}}
	tr, err := New(scripted{gradient: 1}, small, 8, Spec{Rank: 1, Attn: true})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(saved(f, tr, "cursor"))
	back(f, tr, 1)
	if _, err := tr.OptimStep(f.Context(), DefaultAdam); err != nil {
		f.Fatal(err)
	}
	back(f, tr, 1)
	f.Add(saved(f, tr, ""))
	f.Fuzz(func(t *testing.T, raw []byte) {
		c, err := ReadCheckpoint(raw)
		if err != nil {
			if code := errs.CodeOf(err); code != errs.FormatInvalid && code != errs.Unsupported {
				t.Fatal(err)
			}
			return
		}
		again, err := Resume(scripted{}, small, 8, c, All)
		if err != nil {
			return
		}
		saved(t, again, c.Cursor)
	})
}
