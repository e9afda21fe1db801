import { createElement as h } from 'react';
import {
  ServerStyleSheet,
  ThemeProvider,
  createGlobalStyle,
  css,
  keyframes,
  styled,
} from 'styled-components';

const turn = keyframes`from { rotate: 0deg } to { rotate: 360deg }`;
const Global = createGlobalStyle`body { margin: ${({ theme }) => theme.space}px }`;
const Button = styled.button.attrs((props) => ({ type: 'button', 'data-kind': props.$kind }))`
  color: ${({ theme, $kind }) => ($kind === 'main' ? theme.main : 'black')};
  ${({ $wide }) =>
    $wide &&
    css`
      width: 100%;
    `}
  animation: ${turn} 1s;
  &:hover {
    color: red;
  }
`;
const Big = styled(Button)`
  font-size: 2em;
`;

export default function make() {
  const sheet = new ServerStyleSheet();
  const element = sheet.collectStyles(
    h(
      ThemeProvider,
      { theme: { main: 'blue', space: 4 } },
      h(Global),
      h(Button, { $kind: 'main' }, 'One'),
      h(Big, { $wide: true, as: 'a', href: '/x' }, 'Two'),
      h(Button, { $kind: 'other' }, 'Three'),
    ),
  );
  return { element, after: () => sheet.getStyleTags() };
}
