import { Card, RadioGroup, Table } from "$ui4a/ui";

const games = [
  { id: 1, home: "Otters", away: "Badgers", h: 2, a: 1 },
  { id: 2, home: "Badgers", away: "Otters", h: 0, a: 0 },
  { id: 3, home: "Otters", away: "Magpies", h: 4, a: 0 },
  { id: 4, home: "Badgers", away: "Magpies", h: 2, a: 2 },
  { id: 5, home: "Badgers", away: "Magpies", h: 3, a: 1 },
];
const of = (team: string) => games.filter((g) => g.home === team || g.away === team);
const table = ["Otters", "Badgers", "Magpies"]
  .map((team) => {
    const margins = of(team).map((g) => (g.home === team ? g.h - g.a : g.a - g.h));
    const won = margins.filter((m) => m > 0).length, drawn = margins.filter((m) => m === 0).length;
    return { Team: team, Played: margins.length, Won: won, Drawn: drawn, Lost: margins.length - won - drawn, Points: 3 * won + drawn };
  })
  .sort((a, b) => b.Points - a.Points);

export default function League() {
  const [team, setTeam] = useState("Otters");
  return (
    <Card title="Five-a-side league">
      <Table label="Table, three points for a win and one for a draw" rows={table} />
      <RadioGroup label="Results of one team" options={table.map((t) => t.Team)} value={team} onChange={setTeam} row />
      <ul className="list-disc pl-5">
        {of(team).map((g) => <li key={g.id}>{g.home} {g.h}-{g.a} {g.away}</li>)}
      </ul>
    </Card>
  );
}
