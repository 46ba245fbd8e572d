import { Calendar, Cloud, Heart, Home, MapPin, Music, ShoppingCart, Sun, TrendingUp, Trophy, Users, Utensils } from "$ui4a/icons";
import { Row, Stack } from "$ui4a/ui";

export default function Icons() {
  return (
    <Stack>
      <Row gap={4}>
        <Calendar />
        <Cloud />
        <Heart className="text-danger" />
        <Home />
        <MapPin />
        <Music />
        <ShoppingCart />
        <Sun className="text-warn" />
        <TrendingUp className="text-success" />
        <Trophy />
        <Users />
        <Utensils />
      </Row>
      <p>
        <Heart size={32} label="a favourite" /> with a meaning of its own
      </p>
    </Stack>
  );
}
