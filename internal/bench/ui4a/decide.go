package ui4a

import "fmt"

// Text scores an answer without a card. Where none is right, what counts is what the text
// says and that it stands alone; where one is right, everything is 0.
func (c *Case) Text(answer string) []Layer {
	if c.Wants() {
		return c.nothing("there is no card")
	}
	var never []Finding
	for _, f := range c.Never.find(answer) {
		never = append(never, finding("not: "+f.What, f.Pass == 0, ""))
	}
	same, how := inLanguage(answer, c.Language)
	content := []Check{
		check("facts", 50, c.Facts.find(answer)...),
		check("nothing wrong", 20, never...),
		check("language", 10, finding("it is in the request's language, "+c.Language, same && answer != "", how)),
	}
	wishes := []Check{check("no card", 100, finding("a text is right here, and no card", true, ""))}
	layers := c.empty()
	layers[1].Checks, layers[4].Checks = content, wishes
	for i := range layers {
		s := score(layers[i].Checks)
		layers[i].Score, layers[i].Rules, layers[i].Ungated = s, s, s
	}
	return layers
}

// Unwanted scores a card where none is right: 0 throughout.
func (c *Case) Unwanted() []Layer { return c.nothing("a card is wrong here") }

func (c *Case) empty() []Layer {
	layers := make([]Layer, len(LayerNames))
	for i, name := range LayerNames {
		layers[i].Name = name
	}
	return layers
}

func (c *Case) nothing(why string) []Layer {
	layers := c.empty()
	for i := range layers {
		layers[i].Score, layers[i].Rules = new(float64), new(float64)
		layers[i].Checks = []Check{check("card", 100, finding(fmt.Sprintf("a card is %s here", map[bool]string{true: "wanted", false: "not wanted"}[c.Wants()]), false, why))}
	}
	return layers
}
