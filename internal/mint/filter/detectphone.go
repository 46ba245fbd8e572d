package filter

import (
	"regexp"
	"strings"

	"github.com/nyaruka/phonenumbers"
)

var (
	phoneLike = regexp.MustCompile(`(?:\+|\b00)?\(?\d(?:[ .\-/()]{0,3}\d){6,15}`)
	dateLike  = regexp.MustCompile(`^(?:\d{4}[-./]\d{1,2}[-./]\d{1,2}|\d{1,2}[-./]\d{1,2}[-./]\d{4})(?:$|\D)`)
	groups    = regexp.MustCompile(`0\d{1,4}(?:[ .\-]\d{2,4}){3,4}|\(\d{2,4}\) ?\d{3,5}[ \-]\d{4}`)
	bookLike  = regexp.MustCompile(`^97[89][ \-]?\d`)
	// phoneCue are words before a number that somebody is called by.
	phoneCue = regexp.MustCompile(`(?i)(?:\bt[eé]l|phone|\bcall|\bdial|\bring|\btext|\bfax|handy|mobil|\bruf|büro|durchwahl|portable|appele|m[oó]vil|celular|\bcel|llam|ligar|whatsapp|\bcell|chiam|\bbel\b|\bnummer|\bnumber|n[uú]mero|\bnumer|zadzwo|telefon|desk|reach|abroad|电话|手机|联系|電話|携帯|番号|тел|звон|номер)[^\d\n]{0,24}$`)
	// numberCue are words before a number that counts or names something else.
	numberCue = regexp.MustCompile(`(?i)(?:\border|invoice|bestell|auftrag|rechnung|commande|facture|pedido|ordine|causale|reference|\bref\b\.?|quoting|customer|account|konto|\bcharge|isbn|\bpage|\bseite|\bsize|serial|\bpart\b|订单号|学号|邮编|注文番号|заказ|#|№|nr\.|\bpo\b|\bid\b|版本|tracking|parcel|steuernummer|az\.|instance|epoch|checksum|[$€£¥]|\bsum)[^\d\n]{0,6}$`)
)

// findPhones finds numbers that a country's plan knows: with the country's code anywhere,
// without it where the text's language or the words before say whose number it is.
func findPhones(text string) []Finding {
	if !phoneLike.MatchString(text) {
		return nil
	}
	var out []Finding
	spoken := regionsOf[Language(text)]
	for _, at := range phoneLike.FindAllStringIndex(text, -1) {
		from, to := at[0], at[1]
		if from > 0 && (wordByte(text[from-1]) || strings.ContainsRune(".,#:", rune(text[from-1]))) || to < len(text) && (wordByte(text[to]) || text[to] == ':' && to+1 < len(text) && isDigit(text[to+1])) {
			continue
		}
		if to < len(text) && text[to] == ')' && strings.Count(text[from:to], "(") > strings.Count(text[from:to], ")") {
			from++ // the bracket is the sentence's
		}
		if callable(text[from:to], text[max(0, from-48):from], spoken) {
			out = append(out, Finding{from, to, "phone"})
		}
	}
	return out
}

// callable reports whether a number can be called, with what stands before it.
func callable(number, before string, spoken []string) bool {
	if international := strings.HasPrefix(number, "+") || strings.HasPrefix(number, "00"); international {
		return valid("+"+digitsOf(strings.Replace(number, "(0)", "", 1)), "ZZ") || strings.HasPrefix(number, "00") && valid("+"+digitsOf(number)[2:], "ZZ")
	}
	if dateLike.MatchString(number) || bookLike.MatchString(number) || numberCue.MatchString(before) {
		return false
	}
	cue := phoneCue.MatchString(before)
	for _, r := range spoken {
		if valid(number, r) && (cue || shaped(number)) {
			return true
		}
	}
	if cue = cue || len(spoken) == 0 && shaped(number) && groups.FindString(number) == number; !cue {
		return false
	}
	for _, r := range allRegions {
		if valid(number, r) {
			return true
		}
	}
	return false
}

// shaped reports whether a number is written as one that is called: with its trunk prefix,
// and set in groups.
func shaped(n string) bool {
	grouped := strings.ContainsAny(n, " -./(")
	return grouped && (n[0] == '0' || n[0] == '(' || strings.Count(n, "-")+strings.Count(n, " ")+strings.Count(n, ".") == 2) && strings.Count(n, ".") != 1
}

func valid(number, region string) bool {
	n, err := phonenumbers.Parse(number, region)
	return err == nil && phonenumbers.IsValidNumber(n) && (region == "ZZ" || phonenumbers.IsValidNumberForRegion(n, region))
}

// regionsOf are the plans that speakers of a language mostly mean.
var regionsOf = map[string][]string{
	"en": {"US", "GB", "IN", "AU", "CA", "IE"}, "de": {"DE", "AT", "CH"}, "fr": {"FR", "BE", "CH", "CA"}, "es": {"ES", "MX", "AR", "CO"}, "pt": {"BR", "PT"}, "it": {"IT", "CH"},
	"nl": {"NL", "BE"}, "pl": {"PL"}, "ru": {"RU", "KZ", "UA"}, "tr": {"TR"}, "zh": {"CN", "TW", "HK"}, "ja": {"JP"}, "ko": {"KR"}, "sv": {"SE"}, "da": {"DK"}, "fi": {"FI"}, "cs": {"CZ"}, "uk": {"UA"},
}

// allRegions are tried where words announce a number and the language is not certain.
var allRegions = []string{"US", "GB", "DE", "FR", "ES", "IT", "BR", "PT", "NL", "PL", "CN", "JP", "KR", "RU", "TR", "IN", "AT", "CH", "BE", "SE", "AU", "MX"}
