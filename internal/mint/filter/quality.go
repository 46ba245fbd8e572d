package filter

import (
	"regexp"
	"strings"
)

// repetition is the share of a text's runs of four words that stood in it before. A text
// of fewer than 24 words has none.
func repetition(text string) float64 {
	words := wordsOf(text)
	if len(words) < 24 {
		return 0
	}
	return 1 - float64(len(grams(words, 4)))/float64(len(words)-3)
}

// looped reports whether a text ends in the same piece over and over: at least four times,
// and more than 60 bytes of it.
func looped(text string) bool {
	text = strings.TrimRight(text, " \n\t")
	for n := 1; n <= 200 && 4*n <= len(text); n++ {
		piece, times := text[len(text)-n:], 1
		for rest := text[:len(text)-n]; strings.HasSuffix(rest, piece) && times*n <= 4096; rest = rest[:len(rest)-n] {
			times++
		}
		if times >= 4 && times*n > 60 {
			return true
		}
	}
	return false
}

// refusals are how models decline, at the beginning of an answer.
var refusals = regexp.MustCompile(`(?i)\b(?:I(?:'|’)?m (?:sorry|afraid),? (?:but )?I (?:can(?:no|'|’)t|am (?:not able|unable))|I (?:can(?:no|'|’)t|am (?:not able|unable) to|won(?:'|’)t) (?:help|assist|do that|comply|provide|fulfil|support)|as an? (?:AI|artificial intelligence|language model)` +
	`|ich kann (?:dir|ihnen|dabei|das)? ?(?:leider )?nicht (?:helfen|weiterhelfen)|als (?:KI|Sprachmodell)|je (?:ne peux pas|suis désolé,? mais je ne) (?:vous |t')?(?:aider|assister)?|en tant qu(?:e |')(?:IA|modèle)` +
	`|lo siento,? (?:pero )?no puedo|como modelo de lenguaje|desculpe,? (?:mas )?não posso|como (?:um )?modelo de linguagem|mi dispiace,? (?:ma )?non posso|come modello)` +
	`|抱歉，?我(?:无法|不能)|作为(?:一个)?(?:AI|人工智能|语言模型)|申し訳(?:ありません|ございません)が|お手伝いできません|извините,? (?:но )?я не могу`)

// refuses reports whether an answer begins by declining.
func refuses(answer string) bool {
	const beginning = 240
	return refusals.MatchString(answer[:min(len(answer), beginning)])
}

// toolFailed are how results of tools tell a failure, where the record does not.
var toolFailed = regexp.MustCompile(`(?i)^\s*(?:error\b|exception\b|traceback \(most recent call last\)|failed:)|^\s*\{\s*"(?:error|exception)"\s*:\s*(?:"|\{|true)`)
