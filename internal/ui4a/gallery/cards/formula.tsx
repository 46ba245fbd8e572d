import { LaTeX, MathBlock } from "$ui4a/katex";
import { Stack } from "$ui4a/ui";

export default function Formulas() {
  return (
    <Stack>
      <p>
        The roots of <LaTeX tex="ax^2 + bx + c = 0" /> are
      </p>
      <MathBlock tex="x = \frac{-b \pm \sqrt{b^2 - 4ac}}{2a}" />
      <MathBlock tex="\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix} \cdot \sum_{i=1}^{n} i = \int_0^\infty e^{-x}\,dx" />
    </Stack>
  );
}
