import { Card, Grid, Stat, Tab, Table, Tabs } from "$ui4a/ui";
import { Chart } from "$ui4a/charts";

const data = [
  { monat: "August", kwh: 310 },
  { monat: "September", kwh: 285 },
  { monat: "Oktober", kwh: 342 },
  { monat: "November", kwh: 403 },
];
const sum = data.reduce((s, d) => s + d.kwh, 0);
const euro = (kwh: number) => (kwh * 0.32).toFixed(2).replace(".", ",") + " €";
const costs = data.map((d) => ({ Monat: d.monat, Verbrauch: d.kwh + " kWh", Kosten: euro(d.kwh) }));

export default function Strom() {
  return (
    <Card title="Stromverbrauch August bis November">
      <Tabs label="Ansicht">
        <Tab label="Verbrauch">
          <Chart kind="bar" label="Verbrauch in kWh je Monat" data={data} x="monat" y="kwh" />
          <Grid cols={2}>
            <Stat label="Summe" value={sum} unit="kWh" />
            <Stat label="Durchschnitt pro Monat" value={sum / data.length} unit="kWh" />
          </Grid>
        </Tab>
        <Tab label="Kosten">
          <Table label="Kosten bei 0,32 € je kWh" rows={costs} />
        </Tab>
      </Tabs>
    </Card>
  );
}
