package template_test

import (
	"bufio"
	"os"
	"strings"
	"testing"
)

// families are the commonest families of chat templates, each with a template of it.
var families = map[string]string{
	"ChatML":        "inline:teknium-OpenHermes-2.5-Mistral-7B",
	"Qwen 2.5":      "Qwen-Qwen2.5-7B-Instruct.jinja",
	"Qwen 3":        "Qwen-Qwen3-0.6B.jinja",
	"Llama 2":       "inline:bofenghuang-vigogne-2-70b-chat",
	"Llama 3":       "inline:Llama-3",
	"Llama 3.1":     "meta-llama-Llama-3.1-8B-Instruct.jinja",
	"Llama 3.2":     "meta-llama-Llama-3.2-3B-Instruct.jinja",
	"Mistral v1":    "inline:mistralai-Mistral-7B-Instruct-v0.2-mistralai-v1-template-with-a-system-prompt",
	"Mistral v3":    "inline:Mistral-Large-Instruct-2407-mistralai-v3-template-modified-to-have-system-prompt-at-start",
	"Mistral Nemo":  "mistralai-Mistral-Nemo-Instruct-2407.jinja",
	"Gemma":         "inline:google-gemma-7b-it",
	"Gemma 2":       "google-gemma-2-2b-it.jinja",
	"Phi-3":         "inline:Phi-3-mini",
	"Phi-3.5":       "microsoft-Phi-3.5-mini-instruct.jinja",
	"Phi-4":         "inline:phi-4",
	"DeepSeek V2":   "inline:DeepSeek-V2",
	"DeepSeek R1":   "deepseek-ai-DeepSeek-R1-Distill-Qwen-32B.jinja",
	"DeepSeek V3.1": "deepseek-ai-DeepSeek-V3.1.jinja",
	"Command-R+":    "inline:CohereForAI-c4ai-command-r-plus",
	"SmolLM2":       "smollm2.jinja",
	"SmolLM3":       "HuggingFaceTB-SmolLM3-3B.jinja",
	"Granite 3":     "ibm-granite-granite-3.3-2B-Instruct.jinja",
	"Granite 4":     "ibm-granite-granite-4.0.jinja",
}

// Every family is among the goldens, with conversations that Python renders.
func TestGoldensHaveTheCommonFamilies(t *testing.T) {
	f, err := os.Open("testdata/goldens.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rendered := map[string]int{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if fields := strings.Fields(lines.Text()); fields[2] != "error" {
			rendered[fields[0]]++
		}
	}
	for family, name := range families {
		if rendered[name] < 8 {
			t.Errorf("%s: %d conversations of %s are rendered", family, rendered[name], name)
		}
	}
}
