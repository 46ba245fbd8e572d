import { Button, Card, Field, Row } from "$ui4a/ui";

export default function Histoire() {
  const [nom, setNom] = useState("Zoé");
  const [page, setPage] = useState(0);
  const pages = [
    `Un soir, ${nom} entend un petit bruit sous le pommier. Elle trouve une étoile dans le jardin, toute petite et toute tiède.`,
    `L'étoile ne brille presque plus : elle a peur du noir. ${nom} la prend dans ses mains et lui chante une chanson.`,
    `Alors ${nom} monte sur la colline et ramène l'étoile au ciel. Depuis, une lumière lui fait signe chaque nuit.`,
  ];
  return (
    <Card title={`${nom} et l'étoile`} subtitle={`Page ${page + 1} sur 3`}>
      <Field label="Prénom de l'héroïne" value={nom} onChange={setNom} />
      <p className="text-lg" aria-live="polite">{pages[page]}</p>
      <Row justify="between">
        <Button tone="plain" disabled={page === 0} onClick={() => setPage(page - 1)}>Précédent</Button>
        <Button disabled={page === 2} onClick={() => setPage(page + 1)}>Suivant</Button>
      </Row>
    </Card>
  );
}
