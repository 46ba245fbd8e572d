import { Card, Grid, NumberField, Slider, Stat, Table } from "$ui4a/ui";

const yuan = (x: number) => x.toFixed(2) + " 元";

export default function Deposit() {
  const [principal, setPrincipal] = useState(50000);
  const [rate, setRate] = useState(2.6);
  const [years, setYears] = useState(3);
  const after = (n: number) => principal * (1 + rate / 100) ** n;
  const rows = Array.from({ length: years }, (_, i) => ({ 年份: `第${i + 1}年末`, 余额: yuan(after(i + 1)) }));
  return (
    <Card title="定期存款计算器" subtitle="每年复利一次">
      <Grid cols={2}>
        <NumberField label="本金" unit="元" min={0} max={100000000} step={1000} value={principal} onChange={setPrincipal} />
        <NumberField label="年利率" unit="%" min={0} max={20} step={0.1} value={rate} onChange={setRate} />
      </Grid>
      <Slider label="年数" unit="年" min={1} max={10} value={years} onChange={setYears} />
      <Grid cols={2}>
        <Stat label="到期本息" value={yuan(after(years))} />
        <Stat label="利息" value={yuan(after(years) - principal)} />
      </Grid>
      <Table label="每年末的余额" rows={rows} />
    </Card>
  );
}
