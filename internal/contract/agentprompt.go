package contract

import "strings"

// Acting is what the head of a run is made of beside the contract.
type Acting struct {
	Mode  Mode
	Code  bool     // Python can be written: the head says how
	Stubs []string // signatures of the functions that code has
	Items []string // what is remembered, oldest first
}

// AgentSystem is the head of a run: agent.prompts.system with the acting adapter's own
// prompt, then what there is of Python, the rules of hybrid mode, memory and skills, each
// after an empty line.
func (c *Contract) AgentSystem(label string, a Acting) string {
	specialist, _ := c.Adapter(label)
	p := c.Agent.Prompts
	texts := []string{expand(p.System, "{{specialist}}", specialist.Prompt)}
	if a.Code {
		texts = append(texts, expand(p.REPL, "{{stubs}}", strings.Join(a.Stubs, "\n")))
	}
	if a.Mode == Hybrid {
		texts = append(texts, p.Hybrid)
	}
	if len(a.Items) > 0 {
		texts = append(texts, expand(p.Memory, "{{items}}", "- "+strings.Join(a.Items, "\n- ")))
	}
	if len(c.Skills) > 0 {
		texts = append(texts, expand(p.Skills, "{{skills}}", c.skillLines()))
	}
	var out []string
	for _, t := range texts {
		if t = strings.TrimSpace(t); t != "" {
			out = append(out, t)
		}
	}
	return strings.Join(out, "\n\n")
}

func (c *Contract) skillLines() string {
	lines := make([]string, len(c.Skills))
	for i, s := range c.Skills {
		lines[i] = "- " + s.Name + ": " + s.Description
	}
	return strings.Join(lines, "\n")
}

// GateMessage is what the model is told when a stop hook does not let the run finish.
func (c *Contract) GateMessage(reason string) string {
	return strings.TrimSpace(expand(c.Agent.Prompts.Gate, "{{reason}}", reason))
}
