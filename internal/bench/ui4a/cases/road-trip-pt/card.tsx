import { Card, Grid, Slider, Stat } from "$ui4a/ui";

const euro = (x: number) => x.toFixed(2).replace(".", ",") + " €";

export default function Viagem() {
  const [litros, setLitros] = useState(6);
  const [pessoas, setPessoas] = useState(4);
  const combustivel = (627 * litros * 1.7) / 100;
  const total = combustivel + 44.4;
  return (
    <Card title="Viagem de Lisboa ao Porto" subtitle="Ida e volta: 627 km, com o litro a 1,70 €">
      <Slider label="Consumo em litros aos 100 km" min={4} max={10} value={litros} onChange={setLitros} />
      <Slider label="Número de pessoas" min={1} max={5} value={pessoas} onChange={setPessoas} />
      <Grid>
        <Stat label="Combustível" value={euro(combustivel)} />
        <Stat label="Portagens" value="44,40 €" />
        <Stat label="Total da viagem" value={euro(total)} />
        <Stat label="Cada pessoa paga" value={euro(total / pessoas)} />
      </Grid>
    </Card>
  );
}
