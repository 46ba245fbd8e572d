import { Button, Card } from "$ui4a/ui";
import { sendMessage } from "$ui4a/chat";

const pictures = [
  { name: "Hike", src: "asset:hike" },
  { name: "Office", src: "asset:office" },
  { name: "Wedding", src: "asset:wedding" },
];

export default function ProfilePicture() {
  const [name, setName] = useState("Hike");
  const large = pictures.find((p) => p.name === name);
  return (
    <Card title="Profile picture for work" footer={<Button onClick={() => sendMessage("Use the picture " + name)}>Use this picture</Button>}>
      <img src={large.src} alt={"Large: " + name} className="w-56 max-w-full rounded" />
      <p>{name}</p>
      <div className="grid grid-cols-3 gap-2">
        {pictures.map((p) => (
          <button key={p.name} aria-pressed={p.name === name} onClick={() => setName(p.name)} className={"rounded border-2 p-2 " + (p.name === name ? "border-accent" : "border-border")}>
            <img src={p.src} alt="" className="w-full rounded" />
            {p.name}
          </button>
        ))}
      </div>
    </Card>
  );
}
