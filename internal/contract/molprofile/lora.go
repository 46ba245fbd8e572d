package molprofile

import (
	"strings"

	"macaron/internal/contract"
	"macaron/internal/errs"
)

// adapters reads lora.md: "## LABEL" opens an adapter, "adapter_name:" names the model at
// the engine, "### Description" opens its description. Every other line is reported.
func (p *profile) adapters(text string) ([]contract.Adapter, error) {
	var all []contract.Adapter
	section, lines, begun := "", 0, 0
	end := func() {
		if lines > 1 && p.quoted {
			p.note("lora.md", begun, "the %d lines of the description of %s become one, with spaces between", lines, all[len(all)-1].Name)
		}
		lines = 0
	}
	for i, raw := range strings.Split(text, "\n") {
		line := strings.TrimSpace(raw)
		title, isSection := strings.CutPrefix(line, "### ")
		label, isAdapter := strings.CutPrefix(line, "## ")
		name, isName := strings.CutPrefix(line, "adapter_name:")
		switch {
		case line == "" || strings.HasPrefix(line, "# "):
		case isAdapter:
			end()
			section = ""
			all = append(all, contract.Adapter{Name: strings.TrimSpace(label)})
		case len(all) == 0:
			p.note("lora.md", i+1, "it stands before the first adapter and is left out: %.60q", line)
		case isSection:
			end()
			if section = strings.ToLower(strings.TrimSpace(title)); section != "description" {
				p.note("lora.md", i+1, "a contract has no section %q; it is left out", title)
			}
		case section == "description":
			a := &all[len(all)-1]
			if lines++; lines == 1 {
				begun = i + 1
			}
			a.Description = strings.Join(strings.Fields(a.Description+" "+p.names.Replace(line)), " ")
		case section == "" && isName:
			all[len(all)-1].Source = "model:" + strings.TrimSpace(name)
		default:
			p.note("lora.md", i+1, "a contract has no place for it, it is left out: %.60q", line)
		}
	}
	end()
	if len(all) == 0 {
		return nil, errs.New(errs.FormatInvalid, "lora.md has no adapter", "each begins with a line such as ## L0")
	}
	return all, nil
}
