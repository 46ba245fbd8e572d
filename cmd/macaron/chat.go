package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"macaron/cmd/macaron/cli"
	"macaron/internal/errs"
	"macaron/internal/turn"
	"macaron/internal/wire/sse"
)

func newChat(e *cli.Env) *cobra.Command {
	var forced string
	c := &cobra.Command{
		Use:     "chat",
		Short:   "Talk in the terminal",
		Long:    "Talk with the Macaron that serves here if one does, else with the model in this process.\nEach answer shows who gave it and with what probability it was chosen;\nwith --json each answer is one line: its text and its record.",
		Example: "  macaron chat\n  macaron chat --adapter L2\n  echo 'what is a mutex?' | macaron chat",
		Args:    cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return e.WithServer(cmd, func(ctx context.Context, c *cli.Client) error {
				t := &talk{Env: e, client: c, forced: forced, terminal: cli.IsTerminal(e.In) && !e.JSON}
				return t.loop(ctx)
			})
		},
	}
	c.Flags().StringVar(&forced, "adapter", "", "force this specialist")
	return c
}

// talk is one conversation; the history is kept here and sent whole each time.
type talk struct {
	*cli.Env
	client   *cli.Client
	forced   string
	terminal bool
	history  []said
}

type said struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

const chatHelp = "/adapter NAME forces a specialist, /adapter lets the router choose, /new starts over, /quit ends"

// loop reads one message a line until the end of the input.
func (t *talk) loop(ctx context.Context) error {
	lines := bufio.NewScanner(t.In)
	lines.Buffer(nil, 4<<20)
	if t.terminal {
		fmt.Fprintln(t.Out, chatHelp)
	}
	for t.prompt(); lines.Scan(); t.prompt() {
		line := strings.TrimSpace(lines.Text())
		if line == "/quit" || line == "/exit" {
			return nil
		}
		if line == "" || t.command(line) {
			continue
		}
		if err := t.say(ctx, line); err != nil {
			if ctx.Err() != nil || !t.terminal {
				return err
			}
			t.Fail(err) // told; the conversation goes on
		}
	}
	return errs.Wrap(errs.InvalidRequest, lines.Err(), "the input cannot be read", "one message a line, at most 4 MiB")
}

func (t *talk) prompt() {
	if t.terminal {
		fmt.Fprint(t.Out, "\n> ")
	}
}

// command obeys a line that begins with a slash.
func (t *talk) command(line string) bool {
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "/adapter":
		t.forced = strings.TrimSpace(rest)
	case "/new":
		t.history = nil
	case "/help":
		fmt.Fprintln(t.Out, chatHelp)
	default:
		return false
	}
	return true
}

// say sends the conversation with one more message and prints the answer as it comes.
func (t *talk) say(ctx context.Context, text string) error {
	model := "macaron"
	if t.forced != "" {
		model += "/" + t.forced
	}
	messages := append(t.history, said{"user", text})
	resp, err := t.client.Post(ctx, "/v1/chat/completions", map[string]any{"model": model, "stream": true, "messages": messages})
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	h := resp.Header
	t.show("[" + h.Get("X-Macaron-Adapter") + chance(h.Get("X-Macaron-Reason"), h.Get("X-Macaron-Probability")) + "] ")
	answer, report, err := t.print(resp.Body)
	if err != nil {
		return err
	}
	t.history = append(messages, said{"assistant", answer})
	if !t.JSON {
		return nil
	}
	enc := json.NewEncoder(t.Out) // a line an answer
	enc.SetEscapeHTML(false)
	return enc.Encode(map[string]any{"content": answer, "macaron": report})
}

// show prints what is for people only.
func (t *talk) show(s string) {
	if !t.JSON {
		fmt.Fprint(t.Out, s)
	}
}

func chance(reason, probability string) string {
	if probability != "" && reason == "model" {
		return " " + probability
	}
	return " " + reason
}

type streamed struct {
	Choices []struct {
		Delta struct {
			Content string `json:"content"`
		} `json:"delta"`
		FinishReason string `json:"finish_reason"`
	} `json:"choices"`
	Macaron *turn.Report    `json:"macaron"`
	Error   json.RawMessage `json:"error"`
}

// print shows the stream and returns the whole answer and the turn's report.
func (t *talk) print(body io.Reader) (string, *turn.Report, error) {
	var whole strings.Builder
	var report *turn.Report
	events := sse.NewReader(body, 4<<20)
	for {
		e, err := events.Next()
		if err != nil {
			return "", nil, errs.Wrap(errs.UpstreamFailed, err, "the answer broke off", "say it again")
		}
		if string(e.Data) == "[DONE]" {
			t.show("\n")
			return whole.String(), report, nil
		}
		var c streamed
		if err := json.Unmarshal(e.Data, &c); err != nil {
			return "", nil, errs.Wrap(errs.UpstreamFailed, err, "the answer cannot be read", "")
		}
		if len(c.Error) > 0 {
			t.show("\n")
			return "", nil, cli.Refusal(strings.NewReader(string(e.Data)))
		}
		report = cmp.Or(c.Macaron, report)
		for _, choice := range c.Choices {
			whole.WriteString(choice.Delta.Content)
			t.show(cli.Plain(choice.Delta.Content))
			if choice.FinishReason == "length" {
				t.show(" [cut at the budget]")
			}
		}
	}
}
