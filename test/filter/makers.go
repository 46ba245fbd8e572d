package filter

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/big"
	"math/rand/v2"
	"net/netip"
	"strings"
	"time"
)

type maker struct {
	*rand.Rand
	lang string
}

const (
	digits = "0123456789"
	lower  = "abcdefghijklmnopqrstuvwxyz"
	upper  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	word   = digits + lower + upper
)

func one[T any](m maker, all ...T) T { return all[m.IntN(len(all))] }

func (m maker) of(alphabet string, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[m.IntN(len(alphabet))]
	}
	return string(b)
}

// mask fills a form: 0 is any digit, 1 one of 1 to 9; all else stands.
func (m maker) mask(form string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case '0':
			return rune('0' + m.IntN(10))
		case '1':
			return rune('1' + m.IntN(9))
		}
		return r
	}, form)
}

func (m maker) raw(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(m.UintN(256))
	}
	return b
}

func (m maker) hex(n int) string { return hex.EncodeToString(m.raw(n)) }

var given = []string{"anna", "li.wei", "joão", "mert", "sofia", "piotr", "yuki", "pierre", "olga", "jan", "lucía", "tom"}
var family = []string{"keller", "moreau", "garcia", "rossi", "de.vries", "kowalska", "tanaka", "ivanova", "yilmaz", "o-brien", "silva", "chen"}

// ascii is what most providers allow before the @.
var ascii = strings.NewReplacer("ã", "a", "í", "i")

func (m maker) email() string {
	local := one(m, given...) + one(m, ".", "_", "-", "", "+news.") + one(m, family...) + one(m, "", m.of(digits, 2))
	host := one(m, "mail", "posta", "corp-"+m.of(lower, 4), "x"+m.of(digits, 2)) + "." + one(m, "example.com", "example.org", "de", "co.uk", "com.br", "io", "museum", "ne.jp", "fr")
	return ascii.Replace(local) + "@" + host
}

// phones are forms of numbers that the plans of the countries give out: [trunk or country code, area, number].
var phones = map[string][]string{
	"us": {"(212) 555-0100", "+1 415-555-0100", "646.555.0100", "1-312-555-0100"}, "gb": {"020 7946 0000", "+44 20 7946 0000", "07700 900000", "+447700900000"},
	"de": {"030 23125000", "+49 89 63648000", "0151 23456000", "+4915123456000", "0221/4710000"}, "fr": {"01 99 00 00 00", "06 39 98 00 00", "+33 6 39 98 00 00", "0639980000"},
	"es": {"612 000 000", "+34 655 00 00 00", "91 000 00 00", "912000000"}, "it": {"347 000 0000", "+39 347 0000000", "06 698 00000", "+39 02 6980 0000"},
	"br": {"(11) 99999-0000", "+55 21 98888-0000", "11 91234 0000"}, "nl": {"06 12000000", "+31 6 12000000", "020 620 0000"}, "pl": {"512 000 000", "+48 601 000 000", "22 625 00 00"},
	"cn": {"13800000000", "+86 139 0000 0000", "138-0000-0000", "010-65530000"}, "jp": {"090-1200-0000", "+81 90-1200-0000", "03-3200-0000", "09012000000"},
	"ru": {"+7 916 000-00-00", "8 (916) 000-00-00", "+79160000000"}, "tr": {"0532 000 00 00", "+90 532 000 00 00", "05320000000"},
}

// phone keeps what a plan fixes: only the runs of zeros behind the third digit are drawn.
func (m maker) phone(country string) string {
	form := []byte(one(m, phones[country]...))
	seen := 0
	for i, c := range form {
		if c < '0' || c > '9' {
			continue
		}
		seen++
		if c == '0' && seen > 5 {
			form[i] = byte('0' + m.IntN(10))
		}
	}
	return string(form)
}

// card ends a bank's prefix with the digit that ISO/IEC 7812 asks for.
func (m maker) card() string {
	p := one(m, "4539", "4716", "5412", "5555", "2221", "6011", "3566", "34", "37")
	n := 16
	if p[0] == '3' && len(p) == 2 {
		n = 15
	}
	body := p + m.of(digits, n-1-len(p))
	sum := 0
	for i := range body {
		d := int(body[len(body)-1-i] - '0')
		if i%2 == 0 {
			d = d*2/10 + d*2%10
		}
		sum += d
	}
	all := body + fmt.Sprint((10-sum%10)%10)
	if n == 15 {
		return one(m, all, all[:4]+" "+all[4:10]+" "+all[10:])
	}
	return one(m, all, group(all, 4, " "), group(all, 4, "-"))
}

func group(s string, n int, by string) string {
	var parts []string
	for len(s) > n {
		parts, s = append(parts, s[:n]), s[n:]
	}
	return strings.Join(append(parts, s), by)
}

var accounts = map[string]string{"de": "000000000000000000", "gb": "NWBK00000000000000", "fr": "00000000000000000000K00", "es": "00000000000000000000", "it": "X0000000000000000000000", "nl": "ABNA0000000000"}

// iban gives an account the check digits of ISO 13616.
func (m maker) iban(country string) string {
	cc := strings.ToUpper(country)
	account := m.mask(accounts[country])
	var number strings.Builder
	for _, r := range account + cc + "00" {
		if r >= 'A' {
			fmt.Fprint(&number, r-'A'+10)
		} else {
			number.WriteRune(r)
		}
	}
	n, _ := new(big.Int).SetString(number.String(), 10)
	all := fmt.Sprintf("%s%02d%s", cc, 98-new(big.Int).Mod(n, big.NewInt(97)).Int64(), account)
	return one(m, all, group(all, 4, " "), strings.ToLower(cc)+all[2:])
}

func (m maker) ip4() string {
	return fmt.Sprintf("%d.%d.%d.%d", one(m, 8, 45, 81, 93, 104, 151, 185, 203), m.IntN(256), m.IntN(256), 1+m.IntN(254))
}

func (m maker) ip6() string {
	raw := [16]byte(m.raw(16))
	copy(raw[:], []byte{0x20, 0x01, 0x0d, 0xb8})
	if m.IntN(2) == 0 {
		clear(raw[4:14])
	}
	return netip.AddrFrom16(raw).String()
}

func (m maker) jwt() string {
	enc := base64.RawURLEncoding
	return enc.EncodeToString([]byte(`{"alg":"HS256","typ":"JWT"}`)) + "." + enc.EncodeToString(fmt.Appendf(nil, `{"sub":"%s","iat":%s}`, m.of(digits, 8), m.of(digits, 10))) + "." + enc.EncodeToString(m.raw(32))
}

func (m maker) password() string {
	return one(m, m.of(word, 9)+one(m, "!", "#", "%")+m.of(digits, 2), one(m, "Winter", "Sommer", "Tiger")+m.of(digits, 4)+one(m, "!", "?", "#"), m.of(lower, 5)+"-"+m.of(word, 6)+"-"+m.of(digits, 3))
}

func (m maker) uuid() string {
	h := m.hex(16)
	return h[:8] + "-" + h[8:12] + "-4" + h[13:16] + "-a" + h[17:20] + "-" + h[20:]
}

// notLuhn is a number of n digits that no card has.
func (m maker) notLuhn(n int) string {
	for {
		s := m.mask("1" + strings.Repeat("0", n-1))
		sum := 0
		for i := range s {
			d := int(s[len(s)-1-i] - '0')
			if i%2 == 1 {
				d = d*2/10 + d*2%10
			}
			sum += d
		}
		if sum%10 != 0 {
			return s
		}
	}
}

func (m maker) isbn13() string {
	s := one(m, "978", "979") + m.of(digits, 9)
	sum := 0
	for i, c := range s {
		sum += int(c-'0') * (1 + 2*(i%2))
	}
	s += fmt.Sprint((10 - sum%10) % 10)
	return one(m, s, s[:3]+"-"+s[3:4]+"-"+s[4:7]+"-"+s[7:12]+"-"+s[12:])
}

func (m maker) when() time.Time { return time.Unix(1600000000+m.Int64N(200000000), 0).UTC() }
