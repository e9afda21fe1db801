import {
  Alignment,
  Breadcrumbs,
  Button,
  ButtonGroup,
  Callout,
  Card,
  Checkbox,
  FormGroup,
  H2,
  HTMLSelect,
  HTMLTable,
  InputGroup,
  Menu,
  MenuItem,
  Navbar,
  NonIdealState,
  ProgressBar,
  RadioGroup,
  Slider,
  Switch,
  Tab,
  Tabs,
  Tag,
  Tree,
} from '@blueprintjs/core';
import { rows, type LibraryPage, type Row } from './rows.ts';

function Page({ data }: { data: Row[] }): React.ReactNode {
  return (
    <main className="page">
      <Navbar>
        <Navbar.Group align={Alignment.START}>
          <Navbar.Heading>Shop</Navbar.Heading>
          <Navbar.Divider />
          <Button className="bp6-minimal" text="Orders" />
        </Navbar.Group>
      </Navbar>
      <H2>Orders</H2>
      <Breadcrumbs items={[{ text: 'Home' }, { text: 'Orders' }]} />
      <Callout intent="warning" title="Late" icon={null}>
        Three orders are late
      </Callout>
      <section className="cards">
        {data.slice(0, 8).map((row) => (
          <Card key={row.id}>
            <h5 className="title">{row.name}</h5>
            <Tag intent={row.open ? 'success' : 'none'}>{row.city}</Tag>
            <ProgressBar value={(row.id % 100) / 100} />
            <ButtonGroup>
              <Button text="Open" />
              <Button text="Close" />
            </ButtonGroup>
            <p className="amount">Amount: {row.amount}</p>
          </Card>
        ))}
      </section>
      <HTMLTable striped>
        <thead>
          <tr>
            <th>Name</th>
            <th>City</th>
            <th>Amount</th>
          </tr>
        </thead>
        <tbody>
          {data.map((row) => (
            <tr key={row.id}>
              <td>{row.name}</td>
              <td>
                <Tag minimal>{row.city}</Tag>
              </td>
              <td>
                <Button small text={String(row.amount)} />
              </td>
            </tr>
          ))}
        </tbody>
      </HTMLTable>
      <Tabs id="tabs">
        <Tab id="day" title="Day" panel={<p>Today</p>} />
        <Tab id="week" title="Week" />
      </Tabs>
      <Menu>
        {data.slice(0, 8).map((row) => (
          <MenuItem key={row.id} text={row.name} label={row.city} />
        ))}
      </Menu>
      <FormGroup label="Name" labelFor="name">
        <InputGroup id="name" />
      </FormGroup>
      <Checkbox label="Open ones" />
      <Switch label="Live" />
      <HTMLSelect options={['A', 'B']} />
      <RadioGroup
        name="kind"
        onChange={() => undefined}
        selectedValue="a"
        options={[
          { value: 'a', label: 'A' },
          { value: 'b', label: 'B' },
        ]}
      />
      <Slider min={0} max={10} value={3} />
      <Tree
        contents={data.slice(0, 5).map((row) => ({
          id: row.id,
          label: row.name,
          isExpanded: true,
          childNodes: [{ id: `${row.id}c`, label: row.city }],
        }))}
      />
      <NonIdealState title="End" />
    </main>
  );
}

const page: LibraryPage<Row[]> = { data: (seed) => rows(seed), element: (data) => <Page data={data} /> };
export const pages = { 'library blueprint': page };
