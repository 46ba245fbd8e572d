package model

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"macaron/cmd/macaron/cli"
	"macaron/internal/config"
	"macaron/internal/engine/model"
	"macaron/internal/engine/weights/gguf"
	"macaron/internal/engine/weights/hf"
	"macaron/internal/errs"
	"macaron/internal/models"
)

// ModelView is what is told of one model file.
type ModelView struct {
	Name         string           `json:"name"`
	Path         string           `json:"path"`
	SHA256       string           `json:"sha256"`
	Bytes        int64            `json:"bytes"`
	Licence      string           `json:"licence,omitempty"`
	Architecture string           `json:"architecture"`
	Parameters   int64            `json:"parameters"`
	Layers       uint64           `json:"layers,omitempty"`
	Context      uint64           `json:"context_tokens,omitempty"`
	Resident     int64            `json:"resident_bytes,omitempty"`     // of the weights in memory, when the built-in engine takes the model
	KVBytes      uint64           `json:"kv_bytes_per_token,omitempty"` // keys and values, at two bytes each
	Tokenizer    string           `json:"tokenizer,omitempty"`
	Template     bool             `json:"chat_template"`
	Formats      map[string]int64 `json:"tensors_by_format"`
	FormatBytes  map[string]int64 `json:"bytes_by_format"`
	Tensors      int              `json:"tensors"`
	Refused      string           `json:"refused,omitempty"`                     // why the built-in engine does not take the model
	KVFull       uint64           `json:"kv_bytes_full_context,omitempty"`       // of one sequence that fills the context
	PerRank      int64            `json:"adapter_parameters_per_rank,omitempty"` // of an adapter on all linear layers
	Adapters     []fitView        `json:"adapters,omitempty"`
}

func newModelShow(e *cli.Env) *cobra.Command {
	var adapters []string
	c := &cobra.Command{
		Use: "show [NAME | PATH]", Short: "Look into a model: architecture, tensors, memory, and the adapters that fit",
		Example: "  macaron model show\n  macaron model show ./other.gguf --json\n  macaron model show --adapter adapters/L0 --adapter adapters/L1",
		Args:    cli.Args(0, 1, "at most one name or path"),
		RunE: func(cmd *cobra.Command, given []string) error {
			return e.WithFetcher(func(f *models.Fetcher, cfg config.Config) error {
				what := cfg.Model
				if len(given) == 1 {
					what = given[0]
				}
				local, err := f.Resolve(cmd.Context(), what)
				if err != nil {
					return err
				}
				v, err := viewModel(local, adapters)
				if err != nil {
					return err
				}
				if e.JSON {
					return e.PrintJSON(v)
				}
				return showModel(e, v)
			})
		},
	}
	c.Flags().StringArrayVar(&adapters, "adapter", nil, "adapter to try on the model; may be repeated")
	return c
}

// viewModel reads what the model says about itself; what is absent stays empty.
func viewModel(l models.Local, adapters []string) (ModelView, error) {
	src, err := model.Open(l.Path)
	if err != nil {
		return ModelView{}, err
	}
	defer src.Close() // read-only
	stored := src.Tensors()
	v := ModelView{Name: l.Name, Path: l.Path, SHA256: l.Digest.Hex(), Bytes: src.Size(), Tensors: len(stored), Formats: map[string]int64{}, FormatBytes: map[string]int64{}}
	if m, ok := models.Known(l.Name); ok && m.Digest == l.Digest {
		v.Licence = m.Licence
	}
	for i := range stored {
		v.Parameters += int64(stored[i].Elements())
		v.Formats[stored[i].Type]++
		v.FormatBytes[stored[i].Type] += stored[i].Bytes()
	}
	if m, err := model.Load(src, runtime.GOMAXPROCS(0), nil); err == nil {
		v.Resident = m.Bytes()
		v.PerRank, v.Adapters = adapterParameters(m.Shape(l.Name)), viewFits(m, l.Name, adapters)
	} else if e := errs.As(err); e.Code == errs.Unsupported {
		v.Refused = e.Message
	} else {
		return v, err
	}
	c, err := src.Config()
	if v.Architecture = c.Arch; err == nil {
		v.Layers, v.Context = uint64(c.Layers), uint64(c.Context)
		v.KVBytes = 2 * 2 * uint64(c.Layers*c.G*c.C)
		v.KVFull = v.KVBytes * v.Context
	} else if errs.CodeOf(err) != errs.Unsupported {
		return v, err
	}
	if f, ok := src.(*model.GGUF); ok {
		return v, v.fromMeta(f.File.Meta)
	}
	return v, v.fromDirectory(l.Path)
}

func memory(v ModelView) string {
	kv := models.Size(int64(v.KVBytes)*1000) + " for each 1,000 cached tokens"
	if v.Resident == 0 {
		return "the built-in engine does not take this model: " + v.Refused + "; " + kv
	}
	return models.Size(v.Resident) + " of weights; " + kv + ", " + models.Size(int64(v.KVFull)) + " for a full context"
}

// fromMeta adds what only GGUF files have, and the sizes of architectures that the
// built-in engine does not take.
func (v *ModelView) fromMeta(m gguf.Meta) error {
	var err error
	number := func(key string, def uint64) uint64 {
		n, e := m.UintOr(v.Architecture+"."+key, def)
		err = cmp.Or(err, e)
		return n
	}
	word := func(key string) string {
		s, e := m.StringOr(key, "")
		err = cmp.Or(err, e)
		return s
	}
	if v.Layers == 0 {
		v.Layers, v.Context = number("block_count", 0), number("context_length", 0)
		if heads, width := number("attention.head_count", 0), number("embedding_length", 0); heads > 0 {
			v.KVBytes = 2 * 2 * v.Layers * number("attention.head_count_kv", heads) * number("attention.key_length", width/heads)
		}
	}
	v.Tokenizer = strings.Trim(word("tokenizer.ggml.model")+" "+word("tokenizer.ggml.pre"), " ")
	v.Template = word("tokenizer.chat_template") != ""
	if v.Licence == "" {
		v.Licence = word("general.license")
	}
	return err
}

// fromDirectory adds what stands in the small files of a directory.
func (v *ModelView) fromDirectory(dir string) error {
	if hf.Exists(dir, hf.TokenizerFile) {
		v.Tokenizer = hf.TokenizerFile
	}
	text, err := hf.Template(dir)
	v.Template = text != ""
	return err
}

func showModel(e *cli.Env, v ModelView) error {
	var formats []string
	for name, n := range v.Formats {
		formats = append(formats, fmt.Sprintf("%d %s (%s)", n, name, models.Size(v.FormatBytes[name])))
	}
	slices.SortFunc(formats, func(a, b string) int { return cmp.Compare(v.FormatBytes[word2(b)], v.FormatBytes[word2(a)]) })
	template := "none"
	if v.Template {
		template = "in the file"
	}
	rows := [][]string{
		{"name", v.Name},
		{"architecture", fmt.Sprintf("%s, %d layers", v.Architecture, v.Layers)},
		{"parameters", cli.Thousands(v.Parameters)},
		{"tensors", fmt.Sprintf("%d: %s", v.Tensors, strings.Join(formats, ", "))},
		{"context", cli.Thousands(int64(v.Context)) + " tokens"},
		{"memory", memory(v)},
		{"tokenizer", cli.OrDash(v.Tokenizer)},
		{"template", template},
		{"licence", cli.OrDash(v.Licence)},
		{"sha256", v.SHA256},
		{"path", v.Path},
	}
	if v.PerRank > 0 {
		rows = append(rows, []string{"adapters", "rank 16 on all linear layers: " + cli.Thousands(16*v.PerRank) + " parameters"})
	}
	for _, a := range v.Adapters {
		rows = append(rows, []string{"", a.String()})
	}
	return e.Table(rows...)
}

// word2 is the format in "210 Q4_1 (80 MB)".
func word2(s string) string { return strings.Fields(s)[1] }
