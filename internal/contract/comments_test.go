package contract_test

import (
	"os"
	"strings"
	"testing"

	"macaron/internal/contract"
)

// A contract that is written anew has the comments of the file that it was read from, each above what
// it is about, and the name that it had; written twice it is the same text.
func TestCommentsAreKept(t *testing.T) {
	raw, err := os.ReadFile("../../macaron.toml")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(raw), "temperature = 0.3\n", "temperature = 0.3 # calm\n", 1)
	text = strings.Replace(text, "[[adapters]]\nname = \"L1\"\n", "# It acts.\n[[adapters]]\nname = \"L1\" # and no other\n", 1)
	c, err := contract.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := contract.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	once, err := c.Text()
	if err != nil {
		t.Fatal(err)
	}
	again, err := contract.Parse(once)
	if err != nil {
		t.Fatal(err)
	}
	if c.Hash() != plain.Hash() || again.Hash() != c.Hash() {
		t.Error("comments are part of the name")
	}
	if twice, err := again.Text(); err != nil || string(twice) != string(once) {
		t.Errorf("written twice it is another text: %v\n%s\n%s", err, once, twice)
	}
	for _, block := range []string{
		"# calm\ntemperature = ", "# No repetition penalty: it also counts the prompt, and a tool call repeats names and values of its tools and request.\nrepetition_penalty = ",
		"# It acts.\n[[adapters]]\n", "# and no other\nname = 'L1'\n", "# Added as a user message after the answer; never part of any view.\nsummary = ",
	} {
		if !strings.Contains(string(once), block) {
			t.Errorf("%q is not in\n%s", block, once)
		}
	}
	if !strings.HasPrefix(string(once), "# The default harness contract (docs/formats/hcp.md).") {
		t.Errorf("the head is %.80q", once)
	}
	if said := strings.Count(text, "\n#") + 3; strings.Count(string(once), "\n#")+1 != said { // the head's first line, and two behind keys
		t.Errorf("of %d lines of comments %d are there", said, strings.Count(string(once), "\n#")+1)
	}
}

// A # that is no comment is none, and comments about what is not there any more fall away.
func TestCommentsOfWhatIsGone(t *testing.T) {
	raw, err := os.ReadFile("../../macaron.toml")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(raw), `"You chat, answer questions and explain facts plainly."`, "\"\"\"\n# a heading\ntext # 1\"\"\" # its own", 1)
	with, err := contract.Parse([]byte("# of another\n" + text))
	if err != nil {
		t.Fatal(err)
	}
	out, err := with.Text()
	if err != nil {
		t.Fatal(err)
	}
	back, err := contract.Parse(out)
	if err != nil || back.Hash() != with.Hash() || !strings.Contains(string(out), "# its own\nprompt = ") {
		t.Errorf("%v\n%s", err, out)
	}
	small, err := contract.Parse([]byte(strings.SplitN(string(raw), "[agent]", 2)[0]))
	if err != nil {
		t.Fatal(err)
	}
	small.TakeComments(with)
	out, err = small.Text()
	if err != nil {
		t.Fatal(err)
	}
	if again, err := contract.Parse(out); err != nil || again.Hash() != small.Hash() || !strings.HasPrefix(string(out), "# of another\n") {
		t.Errorf("%v\n%s", err, out)
	}
}
