package main

import "strings"

// conversations are 6 of 8 turns. Each turn is of another domain than the one before, so
// that another specialist takes it and needs the summary of the last.
func conversations() [][]string {
	var all [][]string
	for c := range 6 {
		var turns []string
		for t := range 8 {
			i := 8*c + t
			d := domains[(t+c)%4]
			turns = append(turns, lengthen(d, i))
		}
		all = append(all, turns)
	}
	return all
}

// domain is what one of the default specialists is for.
type domain struct{ asks, details []string }

// lengthen makes the request of a turn: of 15 to about 150 words, evenly spread, which are
// 20 to 200 tokens.
func lengthen(d domain, i int) string {
	words := 15 + 135*((i*7)%48)/47
	text := d.asks[i%len(d.asks)]
	for k := 0; len(strings.Fields(text)) < words; k++ {
		text += " " + d.details[(i+k)%len(d.details)]
	}
	return text
}

var domains = []domain{
	{asks: []string{
		"What should I think about before I move to another city for a new job?", "Explain to me why leaves change their colour in autumn.",
		"I cannot sleep well these days; what could help me?", "Tell me how the moon moves the sea, in simple words.",
		"What makes a good friend, in your opinion?", "How did people tell the time before there were clocks?",
	}, details: []string{
		"I am thirty-four years old and live with my brother in a small flat near the river.", "My friends have very different opinions about it, and I have read a lot already.",
		"I would like to understand the reasons and not only the result.", "Last year I asked a teacher about the same thing and forgot what she said.",
		"Please take your time and use examples from everyday life.", "It matters to me because my daughter asks me about it every evening.",
	}},
	{asks: []string{
		"Remind me on Friday at four to pick up the parcel from the post office.", "Book a table for six people at the Italian place next to the station.",
		"Send my landlord a message that the heating is broken again.", "Order two bags of coffee and a box of filters, please.",
		"Cancel my appointment with the dentist and find another date next month.", "Put the meeting with Olga into my calendar for Tuesday morning.",
	}, details: []string{
		"The address is on the note that I sent you last week.", "If that does not work, take the next free date after it and tell me.",
		"Two of us do not eat meat, and one comes with a wheelchair.", "Do not call me before ten, I work at night this week.",
		"My phone number is the same as always and the bill goes to the office.", "Tell the others as well when it is done.",
	}},
	{asks: []string{
		"Write a Python function that groups a list of words by their first letter.", "My Go program stops with a nil pointer; how do I find out where?",
		"Give me a shell command that deletes all log files older than a week.", "Write a SQL query that finds customers without any order.",
		"Why does this regular expression not match an empty line?", "Write a small script that renames photos by their date.",
	}, details: []string{
		"The input comes from a file with one entry a line and may have empty lines.", "It has to run on an old machine without any additional packages.",
		"The error only happens when two requests come at the same time.", "Please keep the names of the variables short and write one comment.",
		"The table has about two million rows and an index on the date.", "I tried it with a loop first, but that was too slow and used much memory.",
	}},
	{asks: []string{
		"Make a card that shows the weather of the next three days.", "Build a form where guests can tell whether they come to the party.",
		"Show me a dashboard with the sales of this month and a chart.", "I want a widget with a timer that I can start and stop.",
		"Make an interface to compare two phone contracts side by side.", "Create a to-do list that I can tick off on my phone.",
	}, details: []string{
		"The title should be large and the button should be at the bottom.", "It needs a field for notes and one for a date.",
		"Use calm colours, and leave some room between the rows.", "Everything should be readable on a small screen.",
		"When it is empty, show a short friendly text in its place.", "The numbers are examples, I will put in the real ones later.",
	}},
}
