import createCache from '@emotion/cache';
import { CacheProvider, ClassNames, Global, ThemeProvider, css, jsx, keyframes } from '@emotion/react';
import styled from '@emotion/styled';
import { createElement as h } from 'react';

const fade = keyframes`from { opacity: 0 } to { opacity: 1 }`;
const Title = styled.h1`
  color: ${(props) => props.theme.main};
  animation: ${fade} 1s;
`;
const Small = styled(Title, { shouldForwardProp: (name) => name !== 'tone' })((props) => ({
  fontSize: 12,
  color: props.tone,
}));

export default function make() {
  return h(
    CacheProvider,
    { value: createCache({ key: 'e' }) },
    h(
      ThemeProvider,
      { theme: { main: 'hotpink' } },
      h(Global, {
        styles: css`
          body {
            margin: 0;
          }
        `,
      }),
      h(Title, null, 'One'),
      h(Small, { tone: 'green', as: 'h2', title: 'a"b' }, 'Two'),
      jsx('p', { css: { padding: 4, ':hover': { color: 'red' } } }, 'Three'),
      jsx(
        'p',
        {
          css: [
            css`
              top: 1px;
            `,
            { left: 2 },
          ],
        },
        'Four',
      ),
      h(ClassNames, null, ({ css: make, cx }) => h('i', { className: cx('own', make`right: 3px;`) }, 'Five')),
    ),
  );
}
