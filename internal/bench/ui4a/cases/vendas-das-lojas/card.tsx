import { Card, Grid, Select, Stat } from "$ui4a/ui";
import { Chart } from "$ui4a/charts";

const vendas: Record<string, { loja: string; euros: number }[]> = {
  novembro: [{ loja: "Porto", euros: 18400 }, { loja: "Braga", euros: 12750 }, { loja: "Faro", euros: 9900 }],
  outubro: [{ loja: "Porto", euros: 16200 }, { loja: "Braga", euros: 13900 }, { loja: "Faro", euros: 17050 }],
};

export default function Vendas() {
  const [mes, setMes] = useState("novembro");
  const lojas = vendas[mes];
  const melhor = lojas.reduce((a, b) => (b.euros > a.euros ? b : a));
  return (
    <Card title="Vendas das nossas lojas">
      <Select label="Mês" options={["novembro", "outubro"]} value={mes} onChange={setMes} />
      <Chart kind="bar" label="Vendas por loja" data={lojas} x="loja" y="euros" unit="€" />
      <Grid cols={2}>
        <Stat label="Total do mês" value={lojas.reduce((s, l) => s + l.euros, 0).toLocaleString("pt")} unit="€" />
        <Stat label="A loja que mais vendeu" value={melhor.loja} />
      </Grid>
    </Card>
  );
}
