import { Card, Grid, Stat, Tab, Table, Tabs } from "$ui4a/ui";
import { Chart } from "$ui4a/charts";

const monate = [
  { monat: "Januar", besucher: 1240 },
  { monat: "Februar", besucher: 1185 },
  { monat: "März", besucher: 1630 },
  { monat: "April", besucher: 2010 },
  { monat: "Mai", besucher: 2475 },
  { monat: "Juni", besucher: 1890 },
];
const zahl = (n: number) => n.toLocaleString("de");
const summe = monate.reduce((s, m) => s + m.besucher, 0);
const zeilen = monate.map((m, i) => {
  const mehr = i ? m.besucher - monate[i - 1].besucher : 0;
  return { Monat: m.monat, Besucher: zahl(m.besucher), "Zum Vormonat": i ? (mehr > 0 ? "+" : "") + zahl(mehr) : "–" };
});

export default function Besucher() {
  return (
    <Card title="Besucher des Stadtmuseums im ersten Halbjahr">
      <Grid cols={2}>
        <Stat label="Besucher insgesamt" value={zahl(summe)} />
        <Stat label="Stärkster Monat" value="Mai" />
      </Grid>
      <Tabs label="Darstellung">
        <Tab label="Diagramm">
          <Chart kind="bar" label="Besucher je Monat" data={monate} x="monat" y="besucher" />
        </Tab>
        <Tab label="Tabelle">
          <Table label="Besucher je Monat" rows={zeilen} />
        </Tab>
      </Tabs>
    </Card>
  );
}
