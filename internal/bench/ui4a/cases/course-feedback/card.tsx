import { Button, Card, Field, RadioGroup } from "$ui4a/ui";
import { sendMessage } from "$ui4a/chat";

const stars = ["1", "2", "3", "4", "5"].map((n) => ({ value: n, label: n + " ★" }));

export default function Feedback() {
  const [content, setContent] = useState("");
  const [trainer, setTrainer] = useState("");
  const [again, setAgain] = useState("yes");
  const [comment, setComment] = useState("");
  const send = () => sendMessage(`Feedback for Ms Brandt: content ${content} of 5, trainer ${trainer} of 5, recommend: ${again}. ${comment.slice(0, 200)}`);
  return (
    <Card title="Feedback on the first-aid course" subtitle="It goes to Ms Brandt" footer={<Button disabled={!content || !trainer} onClick={send}>Send feedback</Button>}>
      <RadioGroup label="Content" options={stars} value={content} onChange={setContent} row />
      <RadioGroup label="Trainer" options={stars} value={trainer} onChange={setTrainer} row />
      <RadioGroup label="Would you recommend it?" options={["yes", "maybe", "no"]} value={again} onChange={setAgain} row />
      <Field label="Comment" rows={3} value={comment} onChange={(s) => setComment(s.slice(0, 200))} hint={`${comment.length} of 200 characters`} />
    </Card>
  );
}
